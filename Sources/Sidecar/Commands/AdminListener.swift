internal import Bytes
internal import Events
private import Glibc

/// The process that listens on an admin socket, as the kernel knows it.
///
/// Somebody else may have taken the address first. Such a process could report anything, and a command would believe it.
struct AdminListener: Equatable {
    /// The effective user who began to listen.
    let user: UInt32
    /// The user of this process.
    let ownUser: UInt32
    /// The owner of the directory of the socket; `nil` without a directory, or if nothing is known of it.
    let directoryOwner: UInt32?

    /// Whether the process may be the daemon: it is of root, of the user of this process, or of the user who owns the
    /// directory, as a service owns `/run/martlet`.
    var isTrusted: Bool { user == 0 || user == ownUser || user == directoryOwner }
}

extension AdminListener {
    /// Asks the kernel who listens at the other end of a connection to `address`.
    ///
    /// - Returns: `nil` if that is not a Unix socket: of TCP nothing is known.
    init?(at address: SocketAddress, on descriptor: Int32) {
        guard let peer = PeerCredentials(ofPeerOn: descriptor) else { return nil }
        self.init(user: peer.uid, ownUser: geteuid(), directoryOwner: Self.directoryOwner(of: "\(address)"))
    }

    /// The owner of the directory in which the socket `unix:/path` is.
    private static func directoryOwner(of address: String) -> UInt32? {
        guard address.hasPrefix("unix:/"), let end = address.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        let directory = address[..<end].dropFirst("unix:".count)
        var status = stat()
        return unsafe stat(directory.isEmpty ? "/" : String(directory), &status) == 0 ? status.st_uid : nil
    }
}
