public import Bytes

/// What came of reading from or writing to a transport.
public enum Transfer: Equatable {
    /// This many bytes went over.
    case bytes(Int)
    /// Nothing for now; the watcher is told when it is worth a retry.
    case notNow
    /// The other end has closed its sending side, in order.
    case end
    /// The other end is gone, without having said that it has sent everything.
    case cutOff
    /// The connection is broken; the value is an errno.
    case failed(Int32)
}

/// A connected, non-blocking stream of bytes: a socket, or in tests two queues in memory.
public protocol Transport: AnyObject {
    /// Tells `watcher` about readiness from now on; reading is wanted at first.
    func start(on loop: EventLoop, watcher: any Watcher)
    /// Reads up to `room` bytes to the tail of `queue`.
    func receive(into queue: ByteQueue, room: Int) -> Transfer
    /// Writes from the beginning of `bytes`, as many as go.
    func send(_ bytes: Span<UInt8>) -> Transfer
    /// Whether the watcher is told when there is something to read.
    var watchesRead: Bool { get set }
    /// Whether the watcher is told when writing is possible.
    var watchesWrite: Bool { get set }
    /// Whether the other end is gone, or sends no more, whatever of it is still to be read.
    var isHungUp: Bool { get }
    /// Writes from the beginning of `first` and goes on with `second`, as much as goes.
    func send(_ first: Span<UInt8>, _ second: Span<UInt8>) -> Transfer
    /// Whether `close` resets the connection, so that the peer sees that something was broken off.
    var resetsOnClose: Bool { get set }
    /// The amount of sent data that a reset would destroy, or 0 if the peer has it all. Only its changes have a meaning.
    var unacknowledged: Int { get }
    /// Says to the other end that no more bytes come.
    func endSending()
    /// Ends both directions; the transport is of no use afterwards.
    func close()
    /// The error of a connect that has finished, as an errno; 0 if it is connected.
    var connectError: Int32 { get }
    /// What both ends agreed to speak when the connection was secured, by its name in ALPN (RFC 7301); nil if nothing.
    var negotiatedProtocol: String? { get }
}

extension Transport {
    /// Nothing, where what is sent has arrived.
    public var unacknowledged: Int { 0 }

    /// Nothing, on a connection that is not secured.
    public var negotiatedProtocol: String? { nil }

    /// Writes one after the other, for transports that cannot do it in one go.
    public func send(_ first: Span<UInt8>, _ second: Span<UInt8>) -> Transfer {
        guard first.count > 0 else { return send(second) }
        let outcome = send(first)
        guard outcome == .bytes(first.count), case .bytes(let more) = send(second) else { return outcome }
        return .bytes(first.count + more)
    }
}
