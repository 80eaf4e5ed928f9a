internal import Bytes
internal import Events
private import Glibc
internal import HTTP

/// A connection to an upstream: a wire, and the session that makes exchanges of its bytes.
final class UpstreamConnection: WireOwner, HTTPClientOwner {
    /// Told what becomes of a connection.
    protocol Owner: AnyObject {
        func connectFinished(_ connection: UpstreamConnection, errno: Int32)
        func becameIdle(_ connection: UpstreamConnection)
        func closed(_ connection: UpstreamConnection)
    }

    /// Where the pool keeps the connection while it is idle.
    var idlePosition: Int?
    /// Where the connection leads.
    let address: SocketAddress
    /// Whether it has been idle, so that it may turn out to have died meanwhile.
    private(set) var hasBeenIdle = false

    private let owner: any Owner
    private let context: WireContext
    private var wire: Wire?
    private var session: HTTP1ClientSession?
    private var idleTimer: Timer?
    private var sentBefore = 0
    /// What the wire had sent when it was closed: whoever was using it asks after that.
    private var sentInAll = 0

    init(
        _ transport: any Transport,
        to address: SocketAddress,
        limits: HTTPLimits,
        context: WireContext,
        owner: any Owner
    ) {
        self.address = address
        self.owner = owner
        self.context = context
        let wire = Wire(transport, context: context, owner: self, inputLimit: limits.head + 1, connecting: true)
        self.wire = wire
        session = HTTP1ClientSession(owner: self, output: wire.output, heads: context.heads, limits: limits)
        idleTimer = Timer(on: context.loop.timers) { [unowned self] in drain() }
    }

    /// Begins an exchange for `user`.
    func open(for user: any HTTPStreamUser) -> (any HTTPStream)? {
        idleTimer?.disarm()
        sentBefore = wire?.bytesSent ?? 0
        return session?.open(for: user)
    }

    /// Whether bytes of the exchange have left this process.
    var hasSent: Bool { (wire?.bytesSent ?? sentInAll) > sentBefore }

    /// Closes the connection if `time` passes before it is used.
    func close(after time: Nanoseconds?) {
        hasBeenIdle = true
        idleTimer?.arm(after: time)
    }

    /// Closes the connection, after the exchange under way.
    func drain() {
        session?.drain()
    }

    /// Closes the connection at once.
    func close() {
        wire?.close()
    }

    // MARK: WireOwner

    func wireReceived(_ bytes: Span<UInt8>) -> Int {
        guard let session else { return bytes.count }
        // What was sent before the request cannot be its answer, whoever it was meant for.
        guard hasSent || !session.isBusy else {
            wireEnded(errno: ECONNABORTED)
            return bytes.count
        }
        return session.receive(bytes)
    }

    var isHoldingBack: Bool { session?.isHoldingBack ?? false }

    func wireEnded(errno: Int32?) {
        session?.receiveEnd(errno: errno)
        wire?.close()
    }

    func wireDrained() {
        session?.outputDrained()
    }

    /// An upstream may close behind its answer.
    var needsPeer: Bool { false }

    func wireConnected(errno: Int32) {
        owner.connectFinished(self, errno: errno)
    }

    func wireClosed() {
        sentInAll = wire?.bytesSent ?? 0
        session?.receiveEnd(errno: ECONNABORTED)
        idleTimer?.cancel()
        owner.closed(self)
        context.loop.keep(self)
        if let session { context.loop.keep(session) }
        wire = nil
        session = nil
        idleTimer = nil
    }

    // MARK: HTTPClientOwner

    func sessionBecameIdle() {
        hasBeenIdle = true
        owner.becameIdle(self)
    }

    func sessionHasOutput() {
        wire?.outputChanged()
    }

    func sessionWantsInput() {
        wire?.redeliver()
    }

    func sessionSends(_ body: Span<UInt8>) {
        wire?.send(body)
    }

    func sessionEnded(_ end: SessionEnd) {
        wire?.close()
    }
}
