internal import Bytes
public import Events
private import Glibc
public import HTTP

/// Serves the requests of accepted connections.
public protocol ConnectionService: AnyObject {
    /// A request has begun; answers who uses its stream. The head belongs to the user from now on.
    func open(_ stream: any HTTPStream, head: HTTPHead, end: Bool, from peer: Peer) -> any HTTPStreamUser
    /// A request was refused before it began; the service sends the refusal.
    func refuse(_ stream: any HTTPStream, _ fault: HTTPFault)
    /// How long a head may take to arrive, in nanoseconds; nil for ever.
    var headTimeout: Nanoseconds? { get }
    /// How long a connection may be idle, in nanoseconds; nil for ever.
    var idleTimeout: Nanoseconds? { get }
    /// What is taken in of a caller.
    var limits: HTTPLimits { get }
}

/// An accepted connection: a wire, and the session that makes requests of its bytes.
public final class CallerConnection: WireOwner, HTTPServerOwner {
    /// Where the acceptor keeps the connection in its list.
    var position = 0

    private let service: any ConnectionService
    private let context: WireContext
    private let peer: Peer
    private var wire: Wire?
    private var session: HTTP1ServerSession?
    private var timer: Timer?
    private var isReadingHead = false
    private var isDiscarding = false
    private let acceptor: Acceptor

    init(
        _ transport: any Transport,
        peer: Peer,
        context: WireContext,
        service: any ConnectionService,
        acceptor: Acceptor
    ) {
        self.service = service
        self.acceptor = acceptor
        self.context = context
        self.peer = peer
        let limits = service.limits
        let wire = Wire(transport, context: context, owner: self, inputLimit: limits.head + 1, connecting: false)
        self.wire = wire
        session = HTTP1ServerSession(owner: self, output: wire.output, heads: context.heads, limits: limits)
        let timer = Timer(on: context.loop.timers) { [unowned self] in timedOut() }
        self.timer = timer
        timer.arm(after: service.idleTimeout)
    }

    /// Lets the call under way end, and closes then; an idle connection is closed now.
    func drain() {
        // A request that has come already is no idle connection.
        wire?.readable()
        session?.drain()
    }

    /// Ends the call under way now, with an answer if none has begun.
    func abandon() {
        session?.abandon()
    }

    private func timedOut() {
        guard let session else { return }
        if session.isReadingHead { session.headTimedOut() } else { wire?.finish(lingering: false) }
    }

    // MARK: WireOwner

    func wireReceived(_ bytes: Span<UInt8>) -> Int {
        guard let session else { return bytes.count }
        let used = session.receive(bytes)
        let isReadingHead = session.isReadingHead || used < bytes.count && !session.isBusy
        if isReadingHead != self.isReadingHead {
            self.isReadingHead = isReadingHead
            if isReadingHead { timer?.arm(after: service.headTimeout) }
        }
        if session.isBusy, !isReadingHead, !isDiscarding { timer?.disarm() }
        return used
    }

    var isHoldingBack: Bool { session?.isHoldingBack ?? false }

    func wireEnded(errno: Int32?) {
        session?.receiveEnd(errno: errno)
    }

    func wireDrained() {
        session?.outputDrained()
    }

    var needsPeer: Bool { true }

    func wireConnected(errno: Int32) {}

    func wireClosed() {
        session?.receiveEnd(errno: ECONNABORTED)
        timer?.cancel()
        acceptor.remove(self)
        context.loop.keep(self)
        if let session { context.loop.keep(session) }
        wire = nil
        session = nil
        timer = nil
    }

    // MARK: HTTPServerOwner

    public func sessionOpened(_ stream: any HTTPStream, head: HTTPHead, end: Bool) -> any HTTPStreamUser {
        service.open(stream, head: head, end: end, from: peer)
    }

    public func sessionRefused(_ stream: any HTTPStream, _ fault: HTTPFault) {
        service.refuse(stream, fault)
    }

    public func sessionDiscards() {
        isDiscarding = true
        timer?.arm(after: service.headTimeout)
    }

    public func sessionBecameIdle() {
        isDiscarding = false
        isReadingHead = false
        timer?.arm(after: service.idleTimeout)
    }

    public func sessionHasOutput() {
        wire?.outputChanged()
    }

    public func sessionWantsInput() {
        wire?.redeliver()
    }

    public func sessionSends(_ body: Span<UInt8>) {
        wire?.send(body)
    }

    public func sessionEnded(_ end: SessionEnd) {
        switch end {
        case .orderly: wire?.finish(lingering: false)
        case .lingering: wire?.finish(lingering: true)
        case .abort: wire?.abort()
        }
    }
}
