internal import Configuration
internal import Events

/// The group of the programs that may call through the Unix sockets in the service's runtime directory.
///
/// It is not the group of the service, whose members can read the configuration, keys and logs.
struct CallersGroup {
    /// The group that the package creates.
    static let name = "_martlet-callers"

    private let directories: [String]
    private let isMember: Bool

    /// The group as this process can use it.
    static var own: CallersGroup {
        let given = Environment.runtimeDirectories
        return CallersGroup(in: given.isEmpty ? ["/run/martlet"] : given, isMember: Account.isMember(of: name))
    }

    /// - Parameters:
    ///   - directories: the runtime directories of the service.
    ///   - isMember: whether the group exists and the process is a member, so that it can pass sockets to the group.
    init(in directories: [String], isMember: Bool) {
        (self.directories, self.isMember) = (directories, isMember)
    }

    /// Returns the permissions of a listener's socket, with this group if the file names none.
    func permissions(of listener: ListenerSettings) -> SocketPermissions {
        var permissions = listener.permissions
        guard isMember, permissions.group == nil, case .unix(let path) = listener.address else { return permissions }
        if directories.contains(where: { path.hasPrefix("\($0)/") }) { permissions.group = Self.name }
        return permissions
    }
}
