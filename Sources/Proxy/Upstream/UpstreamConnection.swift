internal import Bytes
internal import Configuration
internal import Events
private import Glibc
internal import HTTP
internal import Time

/// A connection to an upstream: a wire, and the session that makes exchanges of its bytes.
final class UpstreamConnection: WireOwner, HTTPClientOwner {
    /// Told what becomes of a connection.
    protocol Owner: AnyObject {
        func connectFinished(_ connection: UpstreamConnection, errno: Int32)
        func hasRoom(_ connection: UpstreamConnection)
        /// The connection begins no more exchanges, since it has grown too old.
        func aged(_ connection: UpstreamConnection)
        func closed(_ connection: UpstreamConnection)
    }

    /// A stage in the life of a connection.
    enum Stage {
        case connecting
        case ready
        /// Retired, by its age or by too many resets that were sent: the connection ends with its exchanges in progress.
        case aged
    }

    /// Who makes the connection, and once it is good for use, the pool that it belongs to.
    var owner: any Owner
    /// Where the pool keeps the connection while it has room.
    var poolPosition: Int?
    /// Whether it stands there before those that do not hold much.
    var isLastChoice = false
    /// Where the connection leads.
    let address: SocketAddress
    /// Whether it has ever had room for an exchange.
    var hasBeenOfUse = false
    /// Whether it has been idle, be it only between two exchanges, so that it may turn out to have died meanwhile.
    private(set) var hasBeenIdle = false
    private var hasReceived = false
    private var isReset = false
    private(set) var stage = Stage.connecting
    /// When the steps were over in which it was made.
    private(set) var times: ConnectionTimes
    /// What the connection speaks.
    private(set) var version: HTTPVersion

    /// The TLS of the connection, if it has any.
    let security: TLSTransport?

    private let upstream: Upstream
    private var wire: Wire?
    private var session: (any HTTPClientSession)?
    private var idleTimer: Timer?
    private var keepaliveTimer: Timer?
    private var ageTimer: Timer?
    /// How long the response to a ping may take.
    private static let patience = 20 * Duration.second
    /// Whether the timer is for the response to a ping.
    private var isAsking = false
    private var sentBefore = 0
    /// What the connection counts for in `limits.memory`.
    private var share = ConnectionShare()
    /// What the wire had sent when it was closed: whoever was using it asks after that.
    private var sentInAll = 0

    init(
        _ transport: any Transport,
        to address: SocketAddress,
        speaking version: HTTPVersion,
        of upstream: Upstream,
        since times: ConnectionTimes,
        owner: any Owner
    ) {
        self.address = address
        self.times = times
        self.version = version
        security = transport as? TLSTransport
        self.owner = owner
        self.upstream = upstream
        let limit = upstream.limits.head + 1
        wire = Wire(transport, context: context, owner: self, inputLimit: limit, connecting: true)
        idleTimer = Timer(on: context.loop.timers) { [unowned self] in drain() }
        share.change(to: security == nil ? ConnectionShare.plain : ConnectionShare.handshake, of: context.memory)
    }

    private var context: WireContext { upstream.context }

    /// How many more exchanges can be begun now.
    var room: Int { session?.room ?? 0 }

    /// Whether calls do not take what waits for them here, so that others had better go by another connection.
    var holdsMuch: Bool { session?.holdsMuch ?? false }

    /// Why the connection is of no use, as far as it is known.
    var error: UpstreamError {
        if let error = security?.error { return .security(address, error) }
        if session?.isForeign == true { return .noHTTP2(address) }
        return stage != .connecting && !hasBeenOfUse ? .noRoom(address) : .lost
    }

    /// Whether its server may never have seen it: a server that stops resets the connections that the kernel made for it,
    /// and that it has not accepted yet.
    var mayBeUnaccepted: Bool { isReset && !isKnownAccepted }

    /// Whether its server has accepted it for sure.
    var isKnownAccepted: Bool { hasReceived || security != nil }

    /// Whether exchanges are under way.
    var isBusy: Bool { session?.isBusy ?? false }

    /// Begins an exchange for `user`.
    func open(for user: any HTTPStreamUser) -> (any HTTPStream)? {
        idleTimer?.disarm()
        sentBefore = bytesSent
        if version == .http1, sentBefore > 0 { hasBeenIdle = true }
        return session?.open(for: user)
    }

    /// How many bytes of a response in HTTP/1.1 wait for its call.
    var heldInput: Int { version == .http1 ? wire?.heldInput ?? 0 : 0 }

    /// How many bytes have left this process.
    var bytesSent: Int { wire?.bytesSent ?? sentInAll }

    private func makeSession(_ wire: Wire) -> any HTTPClientSession {
        let (heads, limits) = (context.heads, upstream.limits)
        switch version {
        case .http1: return HTTP1ClientSession(owner: self, output: wire.output, heads: heads, limits: limits)
        case .http2:
            return HTTP2ClientSession(
                owner: self,
                output: wire.output,
                resources: context.http2,
                limits: limits,
                isSecure: security != nil
            )
        }
    }

    /// Closes the connection if `time` passes before it is used.
    func close(after time: Duration?) {
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
        hasReceived = true
        guard let session else { return bytes.count }
        // What was sent before the request cannot be its response, whoever it was meant for.
        guard version == .http2 || bytesSent > sentBefore || !session.isBusy else {
            wireEnded(errno: ECONNABORTED)
            return bytes.count
        }
        return session.receive(bytes)
    }

    var isHoldingBack: Bool { session?.isHoldingBack ?? false }

    func wireEnded(errno: Int32?) {
        isReset = errno == ECONNRESET
        session?.receiveEnd(errno: errno)
        wire?.close()
    }

    func wireWillSend() {
        session?.fillOutput()
    }

    func wireDrained() {
        session?.outputDrained()
    }

    /// An upstream may close behind its response.
    var needsPeer: Bool { false }

    func wireConnected(errno: Int32) {
        guard errno == 0, let wire else { return owner.connectFinished(self, errno: errno) }
        times.secured = context.loop.now
        times.connected = security?.connectedAt ?? times.secured
        if let security { version = ApplicationProtocol.version(security.negotiatedProtocol) }
        session = makeSession(wire)
        if security != nil { share.change(to: ConnectionShare.secured, of: context.memory) }
        if version == .http2 { share.grow(by: ConnectionShare.http2, of: context.memory) }
        becomeReady()
    }

    func wireClosed() {
        sentInAll = wire?.bytesSent ?? 0
        session?.receiveEnd(errno: ECONNABORTED)
        idleTimer?.cancel()
        keepaliveTimer?.cancel()
        ageTimer?.cancel()
        share.release(to: context.memory)
        owner.closed(self)
        context.loop.keep(self)
        if let session { context.loop.keep(session) }
        wire = nil
        session = nil
        idleTimer = nil
        keepaliveTimer = nil
        ageTimer = nil
    }

    // MARK: HTTPClientOwner

    func sessionHasRoom() {
        guard stage != .connecting else { return becomeReady() }
        owner.hasRoom(self)
    }

    /// The connection is good for use once the peer has shown that it speaks the protocol.
    private func becomeReady() {
        guard let session, session.isReady else { return }
        stage = .ready
        times.ready = context.loop.now
        keepAlive()
        limitAge()
        owner.connectFinished(self, errno: 0)
    }

    /// Ends the connection when it has grown old, up to a tenth earlier: connections that were made together, by however
    /// many sidecars, are not to be made again together.
    private func limitAge() {
        guard let age = upstream.settings.timeouts.maxAge else { return }
        let timer = Timer(on: context.loop.timers) { [unowned self] in retire() }
        ageTimer = timer
        timer.arm(after: age - .nanoseconds(.random(in: 0...age.nanoseconds / 10)))
    }

    private func retire() {
        guard stage == .ready else { return }
        stage = .aged
        owner.aged(self)
        drain()
    }

    /// Asks for a sign of life now and then while calls are under way; one that did not come ends the connection.
    private func keepAlive() {
        guard version == .http2, let interval = upstream.settings.timeouts.keepalive else { return }
        let timer = keepaliveTimer ?? Timer(on: context.loop.timers) { [unowned self] in keepAlive() }
        keepaliveTimer = timer
        guard let session else { return }
        if session.isPinging { return wireEnded(errno: ETIMEDOUT) }
        if isAsking, interval > Self.patience {
            // It has responded, and has the rest of the interval for itself.
            isAsking = false
            return timer.arm(after: interval - Self.patience)
        }
        isAsking = session.isBusy && session.ping()
        timer.arm(after: isAsking ? min(interval, Self.patience) : interval)
    }

    func sessionExceeded(_ limit: HTTP2Limit) {
        upstream.exceeded(limit, at: address)
    }

    func sessionSpentResets() {
        upstream.retired(at: address)
        retire()
    }

    var now: Instant { context.loop.now }

    func sessionHasOutput() {
        wire?.outputChanged()
    }

    func sessionNeedsInput() {
        wire?.redeliver()
    }

    func sessionYields() {
        wire?.redeliverNextTurn()
    }

    var hasRunLong: Bool { context.loop.hasRunLong }

    var lastWritten: Instant { wire?.lastWritten ?? .max }

    func sessionSends(_ body: Span<UInt8>) {
        wire?.send(body)
    }

    func sessionEnded(_ end: SessionEnd) {
        switch version {
        case .http1: wire?.close()
        // After the GOAWAY.
        case .http2: wire?.finish(.orderly)
        }
    }
}
