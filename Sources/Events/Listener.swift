public import Bytes
private import CLinux
private import Glibc
internal import Time

/// Who takes the connections of a listener.
public protocol ListenerOwner: AnyObject {
    /// A connection has come.
    ///
    /// - Parameters:
    ///   - socket: the connection.
    ///   - address: where it comes from; nil for a Unix caller.
    ///   - mayWait: whether the connection can be offered once more after a moment.
    /// - Returns: false if it is to be offered once more, and no other before it.
    func accepted(_ socket: Socket, from address: SocketAddress?, mayWait: Bool) -> Bool
    /// The process or the system has no descriptor left.
    ///
    /// - Returns: whether there is one again; else the listener rests for a while.
    func outOfDescriptors() -> Bool
}

/// Takes connections from a listening socket, which it does not own, on one loop.
///
/// Where descriptors have run out it rests for a tenth of a second instead of spinning, and for a hundredth where the owner
/// wants a connection later: the connections wait in the kernel's queue meanwhile. The owner holds the listener and outlives
/// it.
@safe
public final class Listener: Watcher {
    /// How many connections are taken before other work gets its turn.
    private static let batch = 32
    private static let rest = 100 * Duration.millisecond
    private static let moment = 10 * Duration.millisecond

    private let descriptor: Int32
    private unowned(unsafe) let owner: any ListenerOwner
    private var watch: Watch?
    private var restTimer: Timer?
    /// The connection that the owner wants later.
    private var waiting: (socket: Socket, address: SocketAddress?)?

    /// Starts to take connections from a listening, non-blocking descriptor.
    public init(_ descriptor: Int32, on loop: EventLoop, owner: any ListenerOwner) {
        self.descriptor = descriptor
        unsafe self.owner = owner
        watch = Watch(descriptor, on: loop, for: self)
        restTimer = Timer(on: loop.timers) { [unowned self] in resume() }
        watch?.watchesRead = true
    }

    deinit {
        end()
    }

    /// Takes all connections that have come until now, and then no more.
    public func finish() {
        offerWaiting()
        while watch != nil, acceptOne(mayWait: false) {}
        end()
    }

    /// Takes connections no more.
    public func end() {
        waiting = nil
        restTimer?.cancel()
        watch?.end()
        watch = nil
    }

    /// Takes the connections that have come.
    public func readable() {
        for _ in 0..<Self.batch where watch != nil {
            guard acceptOne(mayWait: true) else { return }
        }
    }

    /// Does nothing: a listening socket is never writable.
    public func writable() {}

    private func acceptOne(mayWait: Bool) -> Bool {
        var storage = sockaddr_storage()
        var length = UInt32(MemoryLayout<sockaddr_storage>.size)
        let result = unsafe martlet_accept4(descriptor, &storage, &length)
        guard result >= 0 else {
            failed(errno: -result)
            return result == -EINTR || result == -ECONNABORTED
        }
        let socket = Socket(owning: result)
        let address = unsafe withUnsafeBytes(of: &storage) { bytes in
            unsafe SocketAddress(bytes: Span(_unsafeBytes: bytes.prefix(Int(length))))
        }
        let isUnix = address == nil || address?.family == .unix
        if !isUnix { socket.setNoDelay() }
        return offer(socket, from: isUnix ? nil : address, mayWait: mayWait)
    }

    /// Hands a connection to the owner; false if it waits now, and all others behind it.
    private func offer(_ socket: Socket, from address: SocketAddress?, mayWait: Bool) -> Bool {
        let isTaken = unsafe owner.accepted(socket, from: address, mayWait: mayWait)
        guard !isTaken, watch != nil else { return true }
        waiting = (socket, address)
        rest(for: Self.moment)
        return false
    }

    private func offerWaiting() {
        guard let (socket, address) = waiting else { return }
        waiting = nil
        // Its number is of the time when descriptors were short.
        socket.renumber()
        _ = offer(socket, from: address, mayWait: false)
    }

    private func rest(for time: Duration) {
        watch?.watchesRead = false
        restTimer?.arm(after: time)
    }

    private func resume() {
        watch?.watchesRead = true
        offerWaiting()
    }

    private func failed(errno: Int32) {
        guard errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM else { return }
        guard unsafe !owner.outOfDescriptors() else { return }
        rest(for: Self.rest)
    }
}
