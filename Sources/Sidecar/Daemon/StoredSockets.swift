internal import Configuration
internal import Events

/// The listening sockets that systemd holds for this service while it restarts (its file descriptor store).
///
/// Belongs to the main thread.
final class StoredSockets {
    private let manager: ServiceManager
    /// What an earlier process has left; empty once the first configuration is in use.
    private var left: [ListenSocket] = []
    /// The names of what was left and is of no use.
    private var useless: [String] = []

    /// Takes over what an earlier process has left with `manager`.
    init(_ stored: [SystemdSockets.Stored], manager: ServiceManager) {
        self.manager = manager
        for one in stored {
            if let socket = ListenSocket.restored(one) { left.append(socket) } else { useless.append(one.name) }
        }
    }

    /// The sockets that an earlier process has left on an address, at most `count`; they stay open whoever closes others.
    func sockets(on address: ListenAddress, atMost count: Int) -> [ListenSocket] {
        guard address.canBeStored, let name = address.localName else { return [] }
        return Array(left.filter { $0.localAddress == name }.prefix(count))
    }

    /// Closes a socket that was opened in vain, but not one that an earlier process has left.
    func close(_ socket: ListenSocket) {
        if !left.contains(where: { $0 === socket }) { socket.close() }
    }

    /// Has the manager hold the sockets in use, and close what an earlier process has left and nobody uses.
    func settle(_ open: some Collection<ListenerSet.Open>) {
        for listener in open where listener.key.address.canBeStored {
            for socket in listener.sockets where !socket.isCopy && !socket.isHeld { manager.store(socket) }
        }
        let used = open.flatMap(\.sockets)
        for socket in left where !used.contains(where: { $0 === socket }) { discard(socket) }
        for name in useless { manager.forget(name) }
        left = []
        useless = []
    }

    /// Closes a socket that no worker uses any more, here and at the manager.
    func discard(_ socket: ListenSocket) {
        if socket.isHeld { manager.forget(socket.storeName) }
        socket.discard()
    }
}

extension ListenAddress {
    /// Whether a later process can tell by the address that it wants the socket: not if the kernel has chosen the port.
    fileprivate var canBeStored: Bool {
        switch self {
        case .tcp(_, let port): port != 0
        case .unix, .abstract: true
        case .systemd: false
        }
    }
}
