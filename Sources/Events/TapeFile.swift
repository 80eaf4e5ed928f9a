private import Glibc

/// The file of a tape: whole documents of YAML, one behind the other, which no other user may read.
public enum TapeFile {
    /// The line that begins a document.
    private static let start = Array("\n---\n".utf8)
    /// A document that was broken off is not longer.
    private static let maxDocument = 16 << 20

    /// Whether a path leads to a symbolic link, through which a tape is never written.
    public static func isLink(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// Opens a file to write behind its last whole document; it is made if it is not there.
    static func open(_ path: String) -> Result<Int32, SystemError> {
        // A FIFO that nobody reads would have the thread wait.
        let flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let descriptor = unsafe Glibc.open(path, flags, 0o600)
        guard descriptor >= 0 else { return .failure(SystemError(errno)) }
        guard size(descriptor) != nil else {
            close(descriptor)
            return .failure(.notAFile)
        }
        _ = fchmod(descriptor, 0o600)
        locked(descriptor) { cutTornEnd(descriptor) }
        return .success(descriptor)
    }

    /// Does something while no other process of the program changes the file, as it might in an upgrade.
    ///
    /// A file system without locks has it done all the same, and so has a process that keeps the lock for a second.
    private static func locked<Result>(_ descriptor: Int32, _ body: () -> Result) -> Result {
        var patience = 100
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK || errno == EINTR, patience > 0 {
            patience -= 1
            usleep(10_000)
        }
        defer { _ = flock(descriptor, LOCK_UN) }
        return body()
    }

    /// Moves a file to `NAME.1` if it would be longer than `maxSize` with `more` bytes.
    ///
    /// Another process of the program may have done so already, be it twice, so that the file has no name any more.
    ///
    /// - Returns: whether the file is to be opened again.
    static func rotate(_ path: String, _ descriptor: Int32, for more: Int, maxSize: Int) -> Bool {
        var own = stat()
        guard descriptor >= 0, unsafe fstat(descriptor, &own) == 0, own.st_size > 0 else { return false }
        guard own.st_nlink > 0 else { return true }
        guard Int(own.st_size) + more > maxSize else { return false }
        return locked(descriptor) {
            var there = stat()
            guard unsafe stat(path, &there) == 0, there.st_ino == own.st_ino, there.st_dev == own.st_dev else {
                return true
            }
            return unsafe rename(path, path + ".1") == 0
        }
    }

    /// Writes documents behind what is there, or nothing of them if they cannot be written as a whole.
    ///
    /// - Returns: as `LineWriter.writeAll`.
    static func append(_ documents: [UInt8], to descriptor: Int32) -> (written: Int, error: Int32?) {
        locked(descriptor) {
            let result = LineWriter.writeAll(documents, to: descriptor)
            if result.error != nil { cut(descriptor, by: result.written) }
            return result
        }
    }

    private static func cut(_ descriptor: Int32, by count: Int) {
        guard count > 0, let size = size(descriptor) else { return }
        _ = ftruncate(descriptor, off_t(max(0, size - count)))
    }

    /// The length of a file; none for what is no file.
    private static func size(_ descriptor: Int32) -> Int? {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }

    /// Removes a document without its end: the daemon was killed, or the machine lost its power, while it was written.
    private static func cutTornEnd(_ descriptor: Int32) {
        guard let size = size(descriptor), size > 0 else { return }
        let end = Array("\n...\n".utf8)
        var last = [UInt8](repeating: 0, count: min(size, end.count))
        guard unsafe pread(descriptor, &last, last.count, off_t(size - last.count)) == last.count, last != end else {
            return
        }
        var piece = [UInt8](repeating: 0, count: min(size, maxDocument))
        let place = size - piece.count
        guard unsafe pread(descriptor, &piece, piece.count, off_t(place)) == piece.count else { return }
        var index = piece.count - start.count
        while index >= 0 {
            if piece[index...].starts(with: start) {
                _ = ftruncate(descriptor, off_t(place + index + 1))
                return
            }
            index -= 1
        }
        if place == 0, piece.starts(with: start.dropFirst()) { _ = ftruncate(descriptor, 0) }
    }
}
