import Glibc

/// A place for a log, which goes with the test.
final class TemporaryLog {
    let path = "/tmp/martlet-test-\(getpid())-\(UInt64.random(in: 0 ... .max)).log"

    deinit {
        unsafe unlink(path)
    }

    /// The lines that have been written.
    var lines: [String] {
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let descriptor = unsafe open(path, O_RDONLY)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        close(descriptor)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
