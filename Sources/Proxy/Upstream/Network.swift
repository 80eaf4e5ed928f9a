internal import Bytes
internal import Events
private import Glibc

/// How connections to upstreams are begun; a test puts memory in its place.
protocol Network: AnyObject {
    /// Begins to connect. The transport becomes writable when it is decided.
    func connect(to address: SocketAddress) -> Result<any Transport, SystemError>
}

/// The sockets of the system.
final class SystemNetwork: Network {
    /// The number of the first descriptor that connections do not take.
    private let firstOfLast: Int

    init(firstOfLast: Int = .max) {
        self.firstOfLast = firstOfLast
    }

    func connect(to address: SocketAddress) -> Result<any Transport, SystemError> {
        Socket.connect(to: address).flatMap {
            // Closed as it is dropped.
            $0.number < firstOfLast ? .success($0) : .failure(SystemError(EMFILE))
        }
    }
}
