internal import Glibc

/// Who may connect to a Unix socket in the file system.
public struct SocketPermissions: Equatable, Sendable {
    /// The permission bits of the file; to connect takes the write bit.
    public var mode: UInt32
    /// The user that owns the file, by name or number; none keeps the user of the process.
    public var owner: String?
    /// The group of the file, by name or number; none keeps the group of the process.
    public var group: String?

    /// Names who may connect.
    public init(mode: UInt32 = 0o660, owner: String? = nil, group: String? = nil) {
        self.mode = mode
        self.owner = owner
        self.group = group
    }

    /// Sets owner, group and mode of the file at `path`.
    func apply(to path: String) throws(ListenError) {
        let address = ListenAddress.unix(path: path)
        let user = try owner.map { (name) throws(ListenError) in
            guard let id = UInt32(name) ?? Account.user(name) else {
                throw ListenError(address, "there is no user \"\(name)\"")
            }
            return id
        }
        let members = try group.map { (name) throws(ListenError) in
            guard let id = UInt32(name) ?? Account.group(name) else {
                throw ListenError(address, "there is no group \"\(name)\"")
            }
            return id
        }
        // An id of all ones keeps what the file has.
        guard unsafe lchown(path, user ?? .max, members ?? .max) == 0 else {
            throw ListenError(address, "this process may not give the file to its owner or group")
        }
        guard unsafe chmod(path, mode) == 0 else { throw ListenError(address, errno: errno) }
    }
}
