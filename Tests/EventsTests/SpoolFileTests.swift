import Glibc
import Testing

@testable import Events

@Suite struct SpoolFileTests {
    private let directory = TemporaryDirectory()

    @Test func `what is written is read, at every place`() {
        let file = SpoolFile(in: directory / ".")
        #expect(file.write([1, 2, 3], at: 0) == nil)
        #expect(file.write([4, 5], at: 3) == nil)
        #expect(file.read(at: 1, count: 3) == .success([2, 3, 4]))
        #expect(file.read(at: 4, count: 1) == .success([5]))
    }

    @Test func `what was not written cannot be read`() {
        let file = SpoolFile(in: directory / ".")
        #expect(file.read(at: 0, count: 1) == .failure(SystemError(EBADF)))
        #expect(file.write([1], at: 0) == nil)
        #expect(file.read(at: 0, count: 2) == .failure(SystemError(EIO)))
    }

    @Test func `a directory that is not there is an error`() {
        let missing = directory / "missing"
        #expect(SpoolFile(in: missing).write([1], at: 0) == SystemError(ENOENT))
        #expect(SpoolFile.error(in: missing) == SystemError(ENOENT))
        #expect(SpoolFile.error(in: directory / ".") == nil)
        #expect(SpoolFile.error(in: "/dev/null") == SystemError(ENOTDIR))
    }
}
