private import Glibc

/// Files that are read whole.
public enum SmallFile {
    /// Reads a file of at most `limit` bytes.
    ///
    /// A larger one fails with EFBIG, a directory with EISDIR, and what else is no file, a pipe for one, with
    /// ``SystemError/notAFile`` instead of waiting for it.
    public static func read(_ path: String, limit: Int) -> Result<[UInt8], SystemError> {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return .failure(SystemError(errno)) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return .failure(SystemError(errno)) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: return .failure(SystemError(EISDIR))
        default: return .failure(.notAFile)
        }
        var content: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = unsafe Glibc.read(descriptor, &piece, piece.count)
            if count == 0 { return .success(content) }
            if count < 0 {
                if errno == EINTR { continue }
                return .failure(SystemError(errno))
            }
            content += piece[..<count]
            guard content.count <= limit else { return .failure(SystemError(EFBIG)) }
        }
    }
}
