internal import Bytes
internal import Glibc

/// The file of a bound Unix socket, told from a later one of the same name by its inode.
struct UnixSocketFile: Sendable {
    let path: String
    private let device: dev_t
    private let inode: ino_t

    /// Notes the file that binding to `path` has just made.
    init?(boundAt path: String) {
        guard let status = Self.status(of: path) else { return nil }
        self.path = path
        device = status.st_dev
        inode = status.st_ino
    }

    /// Tells the file from every other one of this machine, also after it was renamed.
    var identity: String { "\(device)-\(inode)" }

    /// Removes the file unless another process has put its own in this place.
    func remove() {
        guard let now = Self.status(of: path), now.st_dev == device, now.st_ino == inode else { return }
        _ = unsafe unlink(path)
    }

    /// Clears the way for a bind: a socket nobody listens on any more is removed, anything else is an error.
    static func removeStale(at path: String, _ address: SocketAddress) throws(ListenError) {
        guard let status = status(of: path) else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw ListenError(address, "the file exists, but is not a socket")
        }
        let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard probe >= 0 else { throw ListenError(address, errno: errno) }
        defer { close(probe) }
        switch unsafe address.withSystemForm({ unsafe connect(probe, $0, $1) == 0 ? 0 : errno }) {
        case ECONNREFUSED: guard unsafe unlink(path) == 0 else { throw ListenError(address, errno: errno) }
        case ENOENT: return
        case EACCES: throw ListenError(address, "the file is a socket that this process is not allowed to connect to")
        default: throw ListenError(address, errno: EADDRINUSE)
        }
    }

    private static func status(of path: String) -> stat? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status : nil
    }
}
