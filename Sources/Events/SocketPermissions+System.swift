internal import Configuration
internal import Glibc

extension SocketPermissions {
    /// Gives the file at `path` its owner, group and mode.
    func apply(to path: String) throws(ListenError) {
        let address = ListenAddress.unix(path: path)
        let (user, members) = try numbers(for: address)
        // An id of all ones keeps what the file has.
        guard unsafe lchown(path, user ?? .max, members ?? .max) == 0 else {
            throw ListenError(address, "this process may not give the file to its owner or group")
        }
        guard unsafe chmod(path, mode) == 0 else { throw ListenError(address, errno: errno) }
    }

    /// The numbers of owner and group on this machine.
    func numbers(for address: ListenAddress) throws(ListenError) -> (user: UInt32?, group: UInt32?) {
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
        return (user, members)
    }
}
