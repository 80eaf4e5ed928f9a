private import Bytes
private import CLinux
private import Glibc
internal import Time

/// Where a service manager is told what this process does, one datagram at a time (sd_notify(3)).
///
/// A manager that does not read holds nothing up: its datagrams wait here, in order. Belongs to the thread of its loop.
public final class NotifySocket {
    /// A datagram that found no room.
    private struct Datagram {
        let text: [UInt8]
        /// A copy of the descriptor that goes with it, or negative.
        let descriptor: Int32
    }

    private let address: SocketAddress
    private let descriptor: Int32
    private var waiting: [Datagram] = []
    private var timer: Timer?

    /// How long a manager that has no room is left alone.
    private static let pause = 100 * Duration.millisecond
    /// The most datagrams that wait; one more is lost.
    private static let maxWaiting = 256

    /// Makes a socket to send from; nil if there is none, or the name is not an address.
    ///
    /// - Parameters:
    ///   - name: a path, or `@` and a name of the abstract namespace, as in `NOTIFY_SOCKET`.
    ///   - loop: the loop whose timers retry what found no room.
    public init?(to name: String, loop: EventLoop) {
        let named: SocketAddress? =
            name.hasPrefix("@") ? .abstract(name: String(name.dropFirst())) : .unix(path: name)
        guard let named else { return nil }
        address = named
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        timer = Timer(on: loop.timers) { [unowned self] in sendWaiting() }
    }

    deinit {
        timer?.cancel()
        for datagram in waiting where datagram.descriptor >= 0 { close(datagram.descriptor) }
        close(descriptor)
    }

    /// Whether the manager has not read what it was told, so that more of it would not be news.
    public var isBehind: Bool { !waiting.isEmpty }

    /// Sends lines of `NAME=value`, and a socket with them; what cannot be delivered at all is lost.
    public func send(_ text: String, with socket: ListenSocket? = nil) {
        let datagram = Datagram(text: Array(text.utf8), descriptor: socket?.descriptor ?? -1)
        guard isBehind || !deliver(datagram) else { return }
        guard waiting.count < Self.maxWaiting else { return }
        // A copy: the socket may be closed before its turn comes.
        let copy = datagram.descriptor < 0 ? -1 : fcntl(datagram.descriptor, F_DUPFD_CLOEXEC, 0)
        waiting.append(Datagram(text: datagram.text, descriptor: copy))
        timer?.arm(after: Self.pause)
    }

    private func sendWaiting() {
        let delivered = waiting.prefix { datagram in
            guard deliver(datagram) else { return false }
            if datagram.descriptor >= 0 { close(datagram.descriptor) }
            return true
        }
        waiting.removeFirst(delivered.count)
        if isBehind { timer?.arm(after: Self.pause) }
    }

    /// - Returns: false if there is no room for the datagram now.
    private func deliver(_ datagram: Datagram) -> Bool {
        let result = unsafe address.bytes.withUnsafeBytes { target in
            unsafe martlet_send_datagram(
                descriptor,
                target.baseAddress!,
                UInt32(target.count),
                datagram.text,
                datagram.text.count,
                datagram.descriptor
            )
        }
        return result != -EAGAIN
    }
}
