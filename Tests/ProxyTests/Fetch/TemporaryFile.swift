import Glibc

/// A file that goes with the test.
final class TemporaryFile {
    let path = "/tmp/martlet-test-\(getpid())-\(UInt64.random(in: 0 ... .max)).bin"

    init(_ bytes: [UInt8]) {
        write(bytes)
    }

    deinit {
        remove()
    }

    /// Gives the file this content.
    func write(_ bytes: [UInt8]) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        _ = unsafe Glibc.write(descriptor, bytes, bytes.count)
        close(descriptor)
    }

    /// Makes the file that many bytes long; what is new of it takes no room.
    func extend(to count: Int) {
        unsafe truncate(path, count)
    }

    func remove() {
        unsafe unlink(path)
    }
}
