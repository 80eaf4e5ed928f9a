import Configuration
import Events
import Glibc
import Proxy
import Testing

@testable import Credentials
@testable import Sidecar

/// Who is told of token files.
@Suite struct TokenFilesTests {
    @Test func `a call that waits for a file is reported when the file is watched no more`() {
        let path = "/tmp/martlet-test-\(getpid())-\(UInt64.random(in: 0 ... .max)).token"
        defer { unsafe unlink(path) }
        write("one", to: path)
        var reported: [String] = []
        var decided: [CredentialRejection] = []
        let rejections = [CredentialRejection(by: "a"), CredentialRejection(by: "a")]
        let writers = LineWriters()
        let loop = EventLoop()
        let files = TokenFiles(loop: loop, log: OperationalLog(writers, level: .error)) { path, token, rejections in
            decided += rejections
            reported.append(token.map { String(decoding: $0, as: UTF8.self) } ?? "none")
        }
        #expect(files.use([path]).count == 1)
        write("another", to: path)
        for rejection in rejections { files.rejected(path, Array("one".utf8), rejection) }
        // The file has changed, and is read once it has been left in peace for a moment.
        #expect(reported == [])
        #expect(files.use([]).isEmpty)
        #expect(reported == ["another"])
        #expect(decided == rejections)
        writers.finish()
    }

    private func write(_ text: String, to path: String) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        _ = unsafe Glibc.write(descriptor, text, text.utf8.count)
        close(descriptor)
    }
}
