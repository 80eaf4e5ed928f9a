internal import Bytes
private import Glibc

extension ListenSocket {
    /// Removes the files of Unix sockets in a directory on which no process listens, if this user owns them.
    ///
    /// A service that was stopped leaves such files: it cannot know that the service manager does not start it again with
    /// the sockets that the manager holds. Call before other threads start.
    public static func removeStale(in directory: String) {
        guard let stream = unsafe opendir(directory) else { return }
        defer { unsafe closedir(stream) }
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe String(cString: UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self))
            }
            let path = "\(directory)/\(name)"
            guard isOwnSocket(path), let address = SocketAddress.unix(path: path) else { continue }
            try? UnixSocketFile.removeStale(at: path, address)
        }
    }

    private static func isOwnSocket(_ path: String) -> Bool {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFSOCK && status.st_uid == geteuid()
    }
}
