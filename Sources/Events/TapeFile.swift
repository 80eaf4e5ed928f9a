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
        cutTornEnd(descriptor)
        return .success(descriptor)
    }

    /// Moves a file to `NAME.1` if it would be longer than `maxSize` with `more` bytes.
    ///
    /// Another process of the program may have done so already, in an upgrade: what stands at the path is measured then.
    ///
    /// - Returns: whether the file is to be opened again.
    static func rotate(_ path: String, _ descriptor: Int32, for more: Int, maxSize: Int) -> Bool {
        guard descriptor >= 0, let size = size(descriptor), size > 0, size + more > maxSize else { return false }
        var there = stat()
        guard unsafe stat(path, &there) == 0, Int(there.st_size) + more > maxSize else { return true }
        return unsafe rename(path, path + ".1") == 0
    }

    /// Takes back what was written of documents that could not be written as a whole.
    static func cut(_ descriptor: Int32, by count: Int) {
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
