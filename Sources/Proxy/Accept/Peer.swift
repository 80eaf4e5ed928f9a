public import Bytes
public import Events

/// Who is at the other end of a caller's connection.
public struct Peer: Sendable {
    /// The address of a TCP caller; nil for a Unix socket.
    public let address: SocketAddress?
    /// The user and group of a Unix socket's caller, as the kernel saw them at connect.
    public let credentials: PeerCredentials?
    /// The peer as logs name it: `127.0.0.1:5123`, or `uid:1000`.
    public let text: [UInt8]

    /// Names a peer.
    public init(address: SocketAddress?, credentials: PeerCredentials?) {
        self.address = address
        self.credentials = credentials
        let name = credentials.map { "uid:\($0.uid)" } ?? address.map { "\($0)" } ?? "unknown"
        text = Array(name.utf8)
    }
}
