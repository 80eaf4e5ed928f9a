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

    /// Takes over what an earlier process has left with `manager`, or hands over itself.
    init(_ stored: [SystemdSockets.Stored], manager: ServiceManager) {
        self.manager = manager
        for one in stored {
            if let socket = ListenSocket.restored(one, isLent: !manager.isMain) {
                left.append(socket)
            } else {
                useless.append(one.name)
            }
        }
    }

    /// Takes a socket on an address out of what an earlier process has left.
    func acquire(on address: ListenAddress) -> ListenSocket? {
        guard let index = left.firstIndex(where: { $0.localAddress == address.localName }) else { return nil }
        return left.remove(at: index)
    }

    /// The sockets that an earlier process has left on an address, at most `count`; they stay open whoever closes others.
    func sockets(on address: ListenAddress, atMost count: Int) -> [ListenSocket] {
        guard address.canBeStored, let name = address.localName else { return [] }
        return Array(left.filter { $0.localAddress == name }.prefix(count))
    }

    /// Closes what an earlier process has left on ports that are wanted at other addresses: while 127.0.0.1:80 is open,
    /// 0.0.0.0:80 is taken.
    ///
    /// A process that accepts on them still has them.
    func makeWay(for expected: some Sequence<ListenAddress>) {
        guard manager.isMain else { return }
        let names = Set(expected.compactMap(\.localName))
        let ports = Set(expected.compactMap(\.port))
        left.removeAll { socket in
            guard let port = socket.port, ports.contains(port), !names.contains(socket.localAddress) else {
                return false
            }
            discard(socket)
            return true
        }
    }

    /// What an earlier process has left on addresses in use, beside the sockets in use: callers may wait there.
    func surplus(of open: some Collection<ListenerSet.Open>) -> [ListenSocket] {
        unused(by: open).filter { socket in open.contains { $0.name == socket.localAddress } }
    }

    private func unused(by open: some Collection<ListenerSet.Open>) -> [ListenSocket] {
        let used = open.flatMap(\.sockets)
        return left.filter { socket in !used.contains { $0 === socket } }
    }

    /// Closes a socket that was opened in vain, but not one that an earlier process has left.
    func close(_ socket: ListenSocket) {
        if !left.contains(where: { $0 === socket }) { socket.close() }
    }

    /// Has the manager hold the sockets in use, and close what an earlier process has left and nobody uses.
    func settle(_ open: some Collection<ListenerSet.Open>) {
        for socket in unused(by: open) { discard(socket) }
        for name in useless { manager.remove(name) }
        // What it has no room for it would close, and say nothing; it has those of the process before this one.
        let sockets = storable(of: open).sorted { $0.storeName < $1.storeName }
        let room = manager.storeLimit - sockets.count { $0.isHeld }
        for socket in sockets.filter({ !$0.isHeld }).prefix(max(0, room)) { manager.store(socket) }
        left = []
        useless = []
    }

    private func storable(of open: some Collection<ListenerSet.Open>) -> [ListenSocket] {
        open.filter(\.key.address.canBeStored).flatMap(\.sockets).filter { !$0.isCopy }
    }

    /// Which sockets close when the service is restarted, and what to do about it; nil if the manager holds all.
    func shortage(_ open: some Collection<ListenerSet.Open>) -> String? {
        let count = storable(of: open).count
        guard manager.isThere, manager.isMain, count > manager.storeLimit else { return nil }
        let problem =
            "there are \(count) listening sockets, and systemd holds \(manager.storeLimit) of them in a restart"
        return "\(problem); write FileDescriptorStoreMax=\(count) into the unit, or lower \"workers\""
    }

    /// Closes a socket that no worker uses any more, here and at the manager.
    func discard(_ socket: ListenSocket) {
        let name = socket.isHeld ? socket.storeName : nil
        // First, or a caller could still connect when the manager knows of the socket no more.
        socket.discard()
        if let name { manager.remove(name) }
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

    fileprivate var port: UInt16? {
        if case .tcp(_, let port) = self { port } else { nil }
    }
}
