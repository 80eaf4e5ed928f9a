internal import Configuration
internal import Glibc

extension SocketPermissions {
    /// Gives the file at `path` its owner, group and mode.
    func apply(to path: String) throws(ListenError) {
        let address = ListenAddress.unix(path: path)
        let (user, members) = try numbers(for: address)
        if user != nil || members != nil { try changeOwner(of: path, to: user, members, address) }
        guard unsafe chmod(path, mode) == 0 else {
            throw ListenError(
                address,
                "cannot set mode 0\(String(mode, radix: 8)): \(ListenError.text("chmod", errno))"
            )
        }
    }

    /// Not for a file that keeps its owner: the filter of a service manager may forbid the call as such.
    private func changeOwner(
        of path: String,
        to user: UInt32?,
        _ members: UInt32?,
        _ address: ListenAddress
    ) throws(ListenError) {
        // An id of all ones keeps what the file has.
        guard unsafe lchown(path, user ?? .max, members ?? .max) == 0 else {
            let cause = ListenError.text("lchown", errno)
            let names = [owner.map { "owner \($0)" }, group.map { "group \($0)" }].compactMap { $0 }
            let advice = "the process must be root, or a member of the group"
            throw ListenError(address, "cannot set \(names.joined(separator: " and ")): \(cause); \(advice)")
        }
    }

    /// The numbers of owner and group on this machine.
    func numbers(for address: ListenAddress) throws(ListenError) -> (user: UInt32?, group: UInt32?) {
        let user = try owner.map { (name) throws(ListenError) in
            guard let id = UInt32(name) ?? Account.user(name) else {
                throw ListenError(address, "the user \"\(name)\" does not exist")
            }
            return id
        }
        let members = try group.map { (name) throws(ListenError) in
            guard let id = UInt32(name) ?? Account.group(name) else {
                throw ListenError(address, "the group \"\(name)\" does not exist")
            }
            return id
        }
        return (user, members)
    }
}
