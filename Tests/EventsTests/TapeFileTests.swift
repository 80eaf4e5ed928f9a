import Glibc
import Testing

@testable import Events

@Suite struct TapeFileTests {
    private let directory = TemporaryDirectory()
    private var path: String { directory / "tape.yaml" }

    @Test func `documents are written, and nobody else can read them`() {
        write(["---\na: 1\n...\n", "---\na: 2\n...\n"])
        #expect(text == "---\na: 1\n...\n---\na: 2\n...\n")
        var status = stat()
        #expect(unsafe stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
    }

    @Test func `a document that was broken off is removed`() {
        fill("---\na: 1\n...\n---\na: 2\nb")
        write(["---\na: 3\n...\n"])
        #expect(text == "---\na: 1\n...\n---\na: 3\n...\n")
    }

    @Test func `the first document may be broken off, too`() {
        fill("---\na: 1\nb")
        write(["---\na: 3\n...\n"])
        #expect(text == "---\na: 3\n...\n")
    }

    @Test func `whole lines stay, whoever has written them`() {
        fill("a: 1\n")
        write(["---\na: 3\n...\n"])
        #expect(text == "a: 1\n---\na: 3\n...\n")
    }

    @Test func `a full tape is moved aside`() {
        let writer = LineWriter(to: .tape(path), maxSize: 30)
        for number in 1...5 {
            #expect(writer.write(Array("---\na: \(number)\n...\n".utf8)))
            waitForWriting(of: "a: \(number)\n")
        }
        writer.finish()
        #expect(text == "---\na: 5\n...\n")
        #expect(contents(path + ".1") == "---\na: 3\n...\n---\na: 4\n...\n")
    }

    @Test func `a tape that another process has moved aside is not moved again`() {
        let (old, new) = (LineWriter(to: .tape(path), maxSize: 30), LineWriter(to: .tape(path), maxSize: 30))
        for (number, writer) in [old, new, new, old, new].enumerated() {
            #expect(writer.write(Array("---\na: \(number)\n...\n".utf8)))
            waitForWriting(of: "a: \(number)\n")
        }
        old.finish()
        new.finish()
        #expect(text == "---\na: 4\n...\n")
        #expect(contents(path + ".1") == "---\na: 2\n...\n---\na: 3\n...\n")
    }

    @Test func `a tape that another process has moved away twice is left`() {
        let (old, new) = (LineWriter(to: .tape(path), maxSize: 40), LineWriter(to: .tape(path), maxSize: 40))
        let long = String(repeating: "x", count: 20)
        for (text, writer) in [("0", old), ("1" + long, new), ("2" + long, new), ("3", old)] {
            #expect(writer.write(Array("---\na: \(text)\n...\n".utf8)))
            waitForWriting(of: "a: \(text)\n")
        }
        old.finish()
        new.finish()
        #expect(text == "---\na: 2\(long)\n...\n---\na: 3\n...\n")
        #expect(contents(path + ".1") == "---\na: 1\(long)\n...\n")
    }

    @Test func `no link is followed`() {
        #expect(unsafe symlink(directory / "target", path) == 0)
        #expect(TapeFile.isLink(path))
        write(["---\na: 3\n...\n"])
        #expect(unsafe access(directory / "target", F_OK) != 0)
    }

    private func write(_ documents: [String]) {
        let writer = LineWriter(to: .tape(path))
        for document in documents { _ = writer.write(Array(document.utf8)) }
        writer.finish()
    }

    private func waitForWriting(of part: String) {
        for _ in 0..<1000 where !text.contains(part) { usleep(5000) }
    }

    private func fill(_ text: String) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT, 0o644)
        let bytes = Array(text.utf8)
        #expect(unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
        close(descriptor)
    }

    private var text: String { contents(path) }

    private func contents(_ path: String) -> String {
        (try? SmallFile.read(path, limit: 1 << 20).get()).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}
