private import Glibc

/// A file that is read piece by piece.
public final class FilePieces {
    private static let size = 64 * 1024
    /// The size in bytes that a regular file had when it was opened; 0 for other kinds.
    public private(set) var sizeWhenOpened = 0
    private let descriptor: Int32
    private var piece = [UInt8](repeating: 0, count: size)

    /// Opens a file.
    ///
    /// - Parameter path: the file, which may be a pipe.
    /// - Throws: why it cannot be opened.
    public init(_ path: String) throws(SystemError) {
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(errno) }
    }

    deinit { close(descriptor) }

    /// Opens a regular file, without waiting for another kind.
    ///
    /// - Throws: why it cannot be opened.
    public init(regularFile path: String) throws(SystemError) {
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw SystemError(errno) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw SystemError(errno) }
        if status.st_mode & S_IFMT == S_IFDIR { throw SystemError(EISDIR) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError.notAFile }
        sizeWhenOpened = Int(status.st_size)
    }

    /// The bytes that follow; none at the end.
    ///
    /// - Throws: why they cannot be read.
    public func next() throws(SystemError) -> ArraySlice<UInt8>? {
        while true {
            let count = unsafe read(descriptor, &piece, piece.count)
            if count > 0 { return piece[..<count] }
            if count == 0 { return nil }
            guard errno == EINTR else { throw SystemError(errno) }
        }
    }

    /// The bytes of a place; fewer where the file ends.
    ///
    /// - Throws: why they cannot be read.
    public func bytes(at offset: Int, count: Int) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var position = 0
        while position < count {
            let got = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe pread(
                    descriptor,
                    buffer.baseAddress.map { unsafe $0 + position },
                    count - position,
                    off_t(offset + position)
                )
            }
            if got == 0 { break }
            if got < 0 {
                guard errno == EINTR else { throw SystemError(errno) }
                continue
            }
            position += got
        }
        return Array(bytes[..<position])
    }
}

extension SystemError {
    /// A part of a file is longer than is read at once.
    public static let tooLarge = SystemError(EFBIG)
    /// There is no file of the name.
    public static let noFile = SystemError(ENOENT)
}
