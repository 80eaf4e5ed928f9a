import Glibc
import Testing

@testable import Events

@Suite struct LineWriterTests {
    @Test func `what nobody reads is bounded, and whole when somebody does`() {
        let directory = TemporaryDirectory()
        let path = directory / "log"
        #expect(unsafe mkfifo(path, 0o600) == 0)
        let reader = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        let writer = LineWriter(to: .file(path))
        let line = [UInt8](repeating: UInt8(ascii: "x"), count: 99_999) + [UInt8(ascii: "\n")]

        var accepted = 0
        while writer.write(line) { accepted += line.count }
        #expect(accepted > LineWriter.limit - line.count)
        #expect(accepted <= LineWriter.limit + line.count)
        #expect(writer.write(line, isVital: true))
        accepted += line.count

        #expect(lines(accepted / line.count, from: reader) == accepted)
        #expect(writer.write(line))
        #expect(lines(1, from: reader) == line.count)
        writer.finish()
    }

    /// Reads so many lines; returns how many bytes they have.
    private func lines(_ count: Int, from reader: Int32) -> Int {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        var (lines, bytes) = (0, 0)
        while lines < count {
            var readiness = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&readiness, 1, 10_000) == 1 else { break }
            let got = unsafe read(reader, &chunk, chunk.count)
            guard got > 0 else { break }
            lines += chunk[..<got].count { $0 == UInt8(ascii: "\n") }
            bytes += got
        }
        return bytes
    }
}
