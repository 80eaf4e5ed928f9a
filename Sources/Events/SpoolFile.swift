private import CLinux
private import Glibc

/// A file without a name, which is gone with the last who has it.
///
/// Nobody else can open it. Its methods wait for the disk, and so may its end, which frees what is in it. Safe on any thread.
public final class SpoolFile: Sendable {
    private let directory: String
    /// Negative until the first bytes are written.
    private let descriptor = Locked<Int32>(-1)

    /// Chooses the directory of the file, which is made with the first bytes.
    public init(in directory: String) { self.directory = directory }

    deinit {
        let descriptor = descriptor.withLock { $0 }
        if descriptor >= 0 { close(descriptor) }
    }

    /// Writes bytes at a place of the file.
    ///
    /// - Returns: why they cannot be written, if they cannot: a part of them may be.
    public func write(_ bytes: [UInt8], at offset: Int) -> SystemError? {
        let file: Int32
        switch open() {
        case .success(let descriptor): file = descriptor
        case .failure(let error): return error
        }
        var position = 0
        while position < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[position...])
                return unsafe pwrite(file, rest.baseAddress, rest.count, off_t(offset + position))
            }
            if count == 0 || count < 0 && errno != EINTR { return SystemError(count == 0 ? ENOSPC : errno) }
            position += max(0, count)
        }
        return nil
    }

    /// Reads `count` bytes at a place that has been written.
    public func read(at offset: Int, count: Int) -> Result<[UInt8], SystemError> {
        let file = descriptor.withLock { $0 }
        var error: SystemError?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, position in
            while position < count {
                let rest = unsafe UnsafeMutableBufferPointer(rebasing: buffer[position..<count])
                let got = unsafe pread(file, rest.baseAddress, rest.count, off_t(offset + position))
                // What ends too early was cut by the file system.
                guard got > 0 || got < 0 && errno == EINTR else {
                    error = SystemError(got < 0 ? errno : EIO)
                    return
                }
                position += max(0, got)
            }
        }
        return error.map(Result.failure) ?? .success(bytes)
    }

    private func open() -> Result<Int32, SystemError> {
        descriptor.withLock { descriptor in
            if descriptor < 0 {
                let new = unsafe martlet_open_unnamed(directory)
                guard new >= 0 else { return .failure(SystemError(-new)) }
                descriptor = new
            }
            return .success(descriptor)
        }
    }

    /// Why this process cannot make files in a directory; nil if it can, as far as is known.
    ///
    /// Nothing is created.
    public static func error(in directory: String) -> SystemError? {
        var status = stat()
        guard unsafe stat(directory, &status) == 0 else { return SystemError(errno) }
        guard status.st_mode & S_IFMT == S_IFDIR else { return SystemError(ENOTDIR) }
        return unsafe access(directory, W_OK | X_OK) == 0 ? nil : SystemError(errno)
    }
}
