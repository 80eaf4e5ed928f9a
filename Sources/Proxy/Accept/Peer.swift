public import Bytes
public import Events

/// Who is at the other end of a caller's connection; stays on the worker's thread.
public final class Peer {
    /// Whether the caller came over TCP, and not over a Unix socket.
    public let isTCP: Bool
    /// Whether the caller runs on this machine: it uses a Unix socket or a loopback address.
    public let isOnThisMachine: Bool
    /// The user, group and process of a Unix socket's caller, as the kernel saw them at connect.
    public let credentials: PeerCredentials?
    /// The peer as logs name it: `127.0.0.1:5123`, or `uid:1000`.
    public let text: [UInt8]
    private let unit: PeerUnit?

    /// Names a peer.
    public convenience init(address: SocketAddress?, credentials: PeerCredentials?) {
        self.init(address: address, credentials: credentials, unit: credentials.flatMap { PeerUnit(of: $0.pid) })
    }

    /// Names a peer whose unit is found out in a way of its own.
    init(address: SocketAddress?, credentials: PeerCredentials?, unit: PeerUnit?) {
        isTCP = address != nil
        isOnThisMachine = address?.isLoopback ?? true
        self.unit = unit
        self.credentials = credentials
        let name = credentials.map { "uid:\($0.uid)" } ?? address.map { "\($0)" } ?? "unknown"
        text = Array(name.utf8)
    }

    /// The systemd unit of a Unix socket's caller; nil if there is none, or nobody can say.
    ///
    /// Reads a file when it is first asked for.
    var unitName: [UInt8]? { unit?.name }

    /// Finds out the unit of whoever is at the other end of `socket`.
    func settleUnit(over socket: Socket) { unit?.settle { socket.hasPeerEnded } }
}
