internal import Bytes
internal import Events

/// How connections to upstreams are begun; a test puts memory in its place.
protocol Network: AnyObject {
    /// Begins to connect. The transport becomes writable when it is decided.
    func connect(to address: SocketAddress) -> Result<any Transport, SystemError>
}

/// The sockets of the system.
final class SystemNetwork: Network {
    func connect(to address: SocketAddress) -> Result<any Transport, SystemError> {
        Socket.connect(to: address).map { $0 }
    }
}
