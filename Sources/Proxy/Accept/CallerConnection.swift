internal import Bytes
internal import Events
private import Glibc
package import HTTP
package import Time

/// An accepted connection: a wire, and the session that makes requests of its bytes.
package final class CallerConnection: WireOwner, HTTPServerOwner {
    /// Where the acceptor keeps the connection in its list.
    var position = 0
    /// When the last call ended, or the connection began.
    private(set) var idleSince: Instant
    /// Whether it is closed because descriptors are short.
    var isEvicted = false

    let acceptor: Acceptor
    let peer: Peer
    private let limits: HTTPLimits
    private let security: TLSTransport?
    private(set) var wire: Wire?
    /// None until the first bytes, nor between two calls of HTTP/1.1.
    private(set) var session: (any HTTPServerSession)?
    private var timer: Timer?
    private var discardTimer: Timer?
    /// The bytes that had been sent when the connection began to end, or at the last check since.
    private var stuckAt: Int?
    /// What is spoken, once that is known.
    private(set) var version: HTTPVersion?
    private var isReadingHead = false {
        didSet { if !isReadingHead, headMemory.bytes > 0 { headMemory.release(to: context.memory) } }
    }
    /// What the head that is being read counts for.
    private var headMemory = MemoryShare()
    /// What the connection itself counts for.
    private(set) var share = ConnectionShare()
    private var headSince = Instant.max
    private var isDiscarding = false
    private var leave: Leave
    /// Whether nothing is left to do but to send what waits.
    private(set) var isEnding = false

    /// How far it has been told to leave its caller.
    private struct Leave {
        /// Responses of HTTP/1.1 say that the connection closes after them.
        var isAnnounced: Bool
        /// The connection was there when the daemon was told to stop, and may have a call of that time.
        var wasBusy = false
        /// It closes when it is idle.
        var isDraining = false
    }

    /// How long a caller that receives a GOAWAY is waited for.
    static let shutdownTime = Duration.second

    init(_ transport: any Transport, peer: Peer, acceptor: Acceptor) {
        self.acceptor = acceptor
        self.peer = peer
        let (service, context) = (acceptor.service, acceptor.context)
        limits = service.limits
        leave = Leave(isAnnounced: acceptor.isClosing)
        security = transport as? TLSTransport
        idleSince = context.loop.now
        let isSecured = security != nil
        let wire = Wire(transport, context: context, owner: self, inputLimit: limits.head + 1, connecting: isSecured)
        self.wire = wire
        let timer = Timer(on: context.loop.timers) { [unowned self] in timedOut() }
        self.timer = timer
        timer.arm(after: isSecured ? service.headTimeout : service.idleTimeout)
        share.change(to: isSecured ? ConnectionShare.handshake : ConnectionShare.plain, of: context.memory)
    }

    var service: any ConnectionService { acceptor.service }
    var context: WireContext { acceptor.context }

    /// How long the connection may be idle.
    private var idleTimeout: Duration? { leave.isDraining ? Self.shutdownTime : acceptor.idleTimeout }

    /// Has the next response of HTTP/1.1 say that the connection closes after it; an idle connection stays open for it.
    ///
    /// With `movesOn` somebody goes on accepting on the listener, so a GOAWAY sends an HTTP/2 caller there now.
    func announceClose(movesOn: Bool) {
        leave.isAnnounced = true
        guard movesOn else {
            session?.announceClose()
            return
        }
        if version == .http2 {
            drain()
            leave.wasBusy = true
        } else {
            session?.announceClose()
            leave.wasBusy = session?.isBusy == true
        }
    }

    /// Whether a call is under way that began before `announceClose`.
    var isLeaving: Bool { leave.wasBusy && session?.isBusy == true }

    /// Whether no call is under way, and the caller has been told and has not closed the connection yet.
    var isLingering: Bool {
        guard let wire else { return false }
        if wire.isLingering { return true }
        // What waits for a slow reader may be the end of its last response.
        return leave.isDraining && session?.isBusy == false && !isReadingHead && wire.output.isEmpty
    }

    /// Lets the calls under way end, and closes then; an idle connection now, or once an HTTP/2 caller has seen the notice.
    func drain() {
        guard !leave.isDraining else { return }
        // A request that has come already is no idle connection.
        wire?.readable()
        leave.isAnnounced = true
        leave.isDraining = true
        shutDown()
    }

    /// Whether no call is under way, and none is coming, as far as is known.
    var isIdle: Bool { !isReadingHead && !isEnding && !isEvicted && !leave.isDraining && session?.isBusy != true }

    /// The time since which a TLS handshake or the head of a request is unfinished, or `nil` if neither is.
    var unfinishedSince: Instant? {
        if isReadingHead { return headSince }
        return share.bytes == ConnectionShare.handshake ? idleSince : nil
    }

    /// Whether a call is under way whose head has come whole.
    var hasCall: Bool { session?.isBusy == true && !isReadingHead }

    /// Closes the connection at once, whatever has come of a call.
    func cutOff() {
        wire?.abort()
    }

    /// Has the session end when it can; one that waits for its caller to hear of it is not left waiting for long.
    func shutDown() {
        guard let session else { return version == nil ? awaitFirstCall() : close() }
        session.drain()
        if !session.isBusy, !isEnding { timer?.arm(after: Self.shutdownTime) }
    }

    /// Closes a connection on which nothing has come, but not before its caller has had time to send a request.
    private func awaitFirstCall() {
        let left = idleSince + Self.shutdownTime - context.loop.now
        guard left > .zero else { return close() }
        timer?.arm(after: left)
    }

    /// Ends the call under way now, with a response if none has begun.
    func abandon() {
        guard let session else { return close() }
        session.abandon()
    }

    private func timedOut() {
        if isEnding { return endUnread() }
        guard let session else { return close() }
        if session.isReadingHead { return session.headTimedOut() }
        // The rest of a request that nobody wants any more has taken too long, or there is no request at all.
        if session.isBusy { close() } else { shutDown() }
    }

    private func close() {
        finish(.orderly)
    }

    /// Ends the connection when all that waits has been sent, or the caller takes none of it.
    private func finish(_ ending: Wire.Ending) {
        guard let wire, !isEnding else { return }
        isEnding = true
        stuckAt = wire.bytesSent
        timer?.arm(after: service.stalledTimeout)
        wire.finish(ending)
    }

    /// Waits no longer for a caller that has taken none of the last bytes.
    private func endUnread() {
        guard let wire, !wire.output.isEmpty else { return }
        guard wire.bytesSent == stuckAt else {
            stuckAt = wire.bytesSent
            timer?.arm(after: service.stalledTimeout)
            return
        }
        service.stalled(peer)
        wire.abort()
    }

    // MARK: The session

    /// Makes the session that the first bytes of the connection call for; none as long as they may mean either.
    private func makeSession(for bytes: Span<UInt8>) -> (any HTTPServerSession)? {
        guard let wire, let version = version ?? version(of: bytes, on: wire) else { return nil }
        self.version = version
        switch version {
        case .http1:
            let session = context.http1.acquire(for: self, output: wire.output, limits: limits)
            if leave.isAnnounced { session.announceClose() }
            return session
        case .http2:
            acceptor.watchForStalls()
            share.grow(by: ConnectionShare.http2, of: context.memory)
            context.reclaimer?.checkSoon()
            let resources = context.http2
            let session = HTTP2ServerSession(owner: self, output: wire.output, resources: resources, limits: limits)
            if leave.isDraining { session.drain() }
            return session
        }
    }

    private func version(of bytes: Span<UInt8>, on wire: Wire) -> HTTPVersion? {
        // What was agreed on in TLS is spoken, whatever comes.
        if let agreed = wire.negotiatedProtocol { return ApplicationProtocol.version(agreed) }
        return switch HTTP2Preface.match(bytes) {
        case .partial: nil
        case .none: .http1
        case .whole: .http2
        }
    }

    /// Gives the session of HTTP/1.1 to whoever has a call next.
    private func yieldSession() {
        guard version == .http1, let idle = session as? HTTP1ServerSession, idle.isAtRest else { return }
        session = nil
        context.http1.release(consume idle)
    }

    // MARK: WireOwner

    func wireReceived(_ bytes: Span<UInt8>) -> Int {
        if session == nil { session = makeSession(for: bytes) }
        guard let session else {
            reading(true)
            return 0
        }
        let used = session.receive(bytes)
        reading(session.isReadingHead || used < bytes.count && !session.isBusy)
        if isReadingHead, !session.isHoldingBack { hold(session.unfinishedHeadBytes, left: bytes.count - used) }
        if session.isBusy, !isReadingHead, !isDiscarding || version == .http2 { timer?.disarm() }
        return used
    }

    /// Notes whether a head is being read, which must not take for ever.
    private func reading(_ isReadingHead: Bool) {
        guard isReadingHead != self.isReadingHead else { return }
        self.isReadingHead = isReadingHead
        if isReadingHead {
            headSince = context.loop.now
            timer?.arm(after: service.headTimeout)
        } else if session?.isBusy == false {
            timer?.arm(after: idleTimeout)
        }
    }

    /// Counts what a head holds that has come in part, and rejects it if that is too much for the process.
    ///
    /// What is left to the wire is counted there.
    private func hold(_ bytes: Int, left: Int) {
        guard !headMemory.grow(to: bytes, of: context.memory) || left > 0 && context.memory.isFullForHeads else {
            return
        }
        service.outOfMemory(peer)
        session?.rejectHead()
        headMemory.release(to: context.memory)
    }

    var isHoldingBack: Bool { session?.isHoldingBack ?? false }

    func wireEnded(errno: Int32?) {
        if errno == EPROTO, security?.error != nil { noteTLSError() }
        guard let session else { return close() }
        session.receiveEnd(errno: errno)
    }

    func wireWillSend() {
        session?.fillOutput()
        yieldSession()
    }

    func wireDrained() {
        session?.outputDrained()
    }

    var needsPeer: Bool { true }

    /// The TLS handshake is over.
    func wireConnected(errno: Int32) {
        guard errno != 0 else {
            share.change(to: ConnectionShare.secured, of: context.memory)
            timer?.arm(after: idleTimeout)
            return
        }
        if errno == EPROTO { noteTLSError() }
        wire?.close()
    }

    private func noteTLSError() {
        acceptor.tlsFailed()
        if let error = security?.error { service.tlsFailed("\(error)", with: peer) }
    }

    func wireClosed() {
        session?.receiveEnd(errno: ECONNABORTED)
        timer?.cancel()
        discardTimer?.cancel()
        headMemory.release(to: context.memory)
        share.release(to: context.memory)
        acceptor.remove(self)
        context.loop.keep(self)
        if let session { context.loop.keep(session) }
        wire = nil
        session = nil
        timer = nil
        discardTimer = nil
    }

    // MARK: HTTPServerOwner

    package func sessionOpened(_ stream: any HTTPStream, head: HTTPHead, end: Bool) -> any HTTPStreamUser {
        acceptor.open(stream, head: head, end: end, from: peer)
    }

    package func sessionRejected(_ stream: any HTTPStream, _ error: HTTPError, head: HTTPHead?) {
        service.reject(stream, error, head: head)
    }

    package func sessionExceeded(_ limit: HTTP2Limit) {
        service.exceeded(limit, by: peer)
    }

    package var now: Instant { context.loop.now }

    package func sessionDiscards() {
        switch version {
        case .http1, nil:
            isDiscarding = true
            timer?.arm(after: service.headTimeout)
        case .http2:
            let timer = discardTimer ?? Timer(on: context.loop.timers) { [unowned self] in endDiscarding() }
            discardTimer = timer
            if !isDiscarding { timer.arm(after: Self.shutdownTime) }
            isDiscarding = true
        }
    }

    /// Requests that were answered early are not waited for any longer.
    private func endDiscarding() {
        isDiscarding = session?.endDiscarding(since: context.loop.now - Self.shutdownTime) ?? false
        if isDiscarding { discardTimer?.arm(after: Self.shutdownTime) }
    }

    package func sessionBecameIdle() {
        if version == .http1 { isDiscarding = false }
        isReadingHead = false
        idleSince = context.loop.now
        timer?.arm(after: idleTimeout)
    }

    package func sessionHasOutput() {
        wire?.outputChanged()
    }

    package func sessionNeedsInput() {
        wire?.redeliver()
    }

    package func sessionYields() {
        wire?.redeliverNextTurn()
    }

    package var hasRunLong: Bool { context.loop.hasRunLong }

    package var lastWritten: Instant { wire?.lastWritten ?? .max }

    package func sessionSends(_ body: Span<UInt8>) {
        wire?.send(body)
    }

    package func sessionEnded(_ end: SessionEnd) {
        switch end {
        case .orderly: finish(.orderly)
        case .lingering: finish(.lingering)
        case .abort: finish(.reset)
        }
    }
}
