internal import Bytes
internal import Configuration
internal import Events
internal import HTTP
internal import Protocols
internal import RPC
internal import Telemetry
internal import Time

/// One try of a call on one upstream connection.
final class Attempt: AttemptStreamUser, ConnectionSeeker {
    let upstream: Upstream
    let call: Call
    private var connection: UpstreamConnection?
    private var stream: (any HTTPStream)?
    private var firstByteTimer: Timer?
    private var attemptTimer: Timer?
    /// When the attempt gives up where no connection can be made; without an end where it is not to wait at all.
    private(set) var waitsUntil = Instant.max
    private(set) var isOver = false
    /// Something of a response has come, be it an interim one.
    private var hasResponded = false
    private var hasHead = false
    private var isCounted = false
    private var isServed = false
    /// Whether it runs beside another, since that has no response yet.
    let isHedge: Bool
    private var isHedgeCounted = false
    /// What the connection had sent before the attempt.
    private var sentBefore = 0
    /// Which span of the call is its own.
    var spanIndex: Int?
    /// How the making of a connection that it has waited for went, if that failed.
    var failedTimes: ConnectionTimes?
    /// When it began to wait for a connection.
    private(set) var startedAt = Instant.start
    /// When it got its connection.
    private(set) var connectedAt = Instant.start
    private var respondedAt = Instant.start
    private var status = 0
    /// What its response ended with, if the call went on without it.
    var code: RPCCode?
    private var endedAt = Instant.start
    /// The number of the attempt in its call, from 1.
    let number: Int
    /// Where it goes among several addresses.
    var placement: Placement?

    /// Makes the next attempt of a call, which the call has not counted yet.
    init(of call: Call, on upstream: Upstream, isHedge: Bool = false) {
        self.call = call
        number = call.record.attempts + 1
        self.upstream = upstream
        self.isHedge = isHedge
        placement = upstream.balancer == nil ? nil : Placement(needsUntried: isHedge)
    }

    /// The version of HTTP that the call came by, if that can carry it to the upstream.
    var version: HTTPVersion { needsHTTP2 ? .http2 : call.callerLeg.stream.version }

    /// Whether no other version can carry the call.
    var needsHTTP2: Bool { call.upstreamLeg.side.needsHTTP2 }

    /// Asks the pool for a connection; the attempt goes on when there is one.
    func start() {
        startedAt = upstream.context.loop.now
        guard !call.upstreamLeg.isServed else { return serve() }
        if let wait = upstream.settings.connectWait {
            waitsUntil = startedAt + wait
        } else {
            limitTime()
        }
        upstream.acquire(for: self)
    }

    /// The call is served in this process, which needs no connection.
    private func serve() {
        isServed = true
        connectedAt = upstream.context.loop.now
        stream = open(on: nil)
        limitTime()
        call.attemptConnected(self)
    }

    /// Where its connection leads to.
    var peerAddress: SocketAddress? { connection?.address }

    /// Whether the attempt has got its connection, or needs none.
    var isConnected: Bool { connection != nil || isServed }

    /// Whether the attempt holds a connection of one version.
    func holdsConnection(_ version: HTTPVersion) -> Bool { !isOver && connection?.version == version }

    /// Ends the attempt; the call is told nothing any more.
    func cancel() {
        count(hedge: .lost)
        end()
        if !isConnected { upstream.withdraw(self) }
        stream.take()?.reset(.canceled)
    }

    /// Counts what hedging has brought with it, unless that has been counted already.
    func count(hedge result: HedgeLabel) {
        guard isHedge, !isHedgeCounted else { return }
        isHedgeCounted = true
        call.worker.counters.hedge(result, on: upstream.counter)
    }

    /// Counts what became of the attempt, unless that has been counted already.
    func count(_ result: AttemptResult) {
        guard !isCounted else { return }
        isCounted = true
        if let spanIndex { call.tracing?.end(spanIndex, result, at: upstream.context.loop.now) }
        if result != .ok || call.record.keepsAttempts { call.record.ended.append(times(ended: result)) }
        call.count(result, of: upstream)
    }

    /// Where its time has gone, until now or until it has ended.
    func times(ended result: AttemptResult? = nil) -> AttemptTimes {
        var steps =
            connection?.times.steps(from: startedAt, to: connectedAt) ?? failedTimes?.steps(from: startedAt, to: .max)
            ?? .init()
        if let placement { steps.dns += placement.nameTime }
        return AttemptTimes(
            began: startedAt,
            connected: isConnected ? connectedAt : nil,
            responded: hasHead ? respondedAt : nil,
            steps: steps,
            address: peerAddress ?? placement?.address?.address,
            isHedge: isHedge,
            status: hasHead ? status : nil,
            code: code,
            end: result.map { ($0, isOver ? endedAt : upstream.context.loop.now) }
        )
    }

    private func end() {
        if !isOver { endedAt = upstream.context.loop.now }
        isOver = true
        placement?.leave()
        firstByteTimer.take()?.cancel()
        attemptTimer.take()?.cancel()
    }

    private func limitTime() {
        guard let limit = upstream.settings.timeouts.attempt else { return }
        let timer = Timer(on: upstream.context.loop.timers) { [unowned self] in failed(.attemptTimeout) }
        attemptTimer = timer
        timer.arm(after: limit)
    }

    /// The exchange is over: the stream is the connection's own again.
    private func complete() {
        end()
        if !call.upstreamLeg.isServed || stream?.isReadOn != true { stream = nil }
    }

    /// Whether what serves the call in this process still reads the request, although it has responded.
    var readsOn: Bool { isOver && stream?.isReadOn == true }

    // MARK: What the pool tells

    func connected(_ connection: UpstreamConnection) {
        guard !isOver else { return }
        guard connection.version == .http2 || !needsHTTP2 else { return failed(.needsHTTP2) }
        stream = open(on: connection)
        guard stream != nil else { return failed(.lost) }
        self.connection = connection
        connectedAt = upstream.context.loop.now
        sentBefore = connection.bytesSent
        if upstream.settings.connectWait != nil { limitTime() }
        call.attemptConnected(self)
    }

    private func open(on connection: UpstreamConnection?) -> (any HTTPStream)? {
        guard call.isTranslated else { return call.open(on: connection, for: self) }
        let translated = TranslatedStream(for: self, of: call)
        return translated.open(call, on: connection) ? translated : nil
    }

    func wantsBody() { call.askForBody() }

    func streamFailed(_ error: UpstreamError) {
        stream = nil
        guard !isOver else { return call.requestIsRead() }
        failed(error)
    }

    /// The time of the call is over.
    func timePassed() {
        guard !hasHead, isConnected else { return }
        report("no response within the time of a call")
    }

    func failed(_ error: UpstreamError) {
        guard !isOver else { return }
        if error.isOfAddress { report(error.error(upstream: upstream.settings.name, for: .http).message) }
        end()
        call.attemptFailed(self, error)
    }

    // MARK: Retries

    /// Whether the request may be retried although it was sent: it may come back unprocessed, or be lost and do no harm.
    var mayBeRetriedOnceSent: Bool {
        guard let connection, !hasResponded else { return false }
        if connection.version == .http2 { return true }
        return call.request.hasIdempotentMethod
            && (connection.hasBeenIdle || placement != nil && !connection.isKnownAccepted)
    }

    /// Whether the request may be retried from what is kept of it.
    var mayNeedRetryBuffer: Bool {
        if mayBeRetriedOnceSent { return true }
        guard let connection, connection.hasBeenIdle, !hasResponded else { return false }
        return connection.bytesSent == sentBefore
    }

    /// Whether sending the request once more cannot do twice what was to be done once.
    func canRetry(after error: UpstreamError) -> Bool {
        guard let connection else { return false }
        let sent = SentRequest(
            hasResponse: hasResponded,
            wasIdle: connection.hasBeenIdle,
            wasUnaccepted: connection.mayBeUnaccepted && upstream.balancer?.hasUntried(by: call) == true,
            hasLeft: connection.bytesSent != sentBefore,
            isIdempotent: call.request.hasIdempotentMethod
        )
        return sent.canRetry(after: error)
    }

    // MARK: Towards the upstream

    func send(head: HTTPHead, end: Bool) {
        stream?.send(head: head, end: end)
        if end { awaitFirstByte() }
    }

    /// Sends bytes of the body.
    ///
    /// - Returns: whether so much waits that no more should come for now.
    @discardableResult
    func send(body: Span<UInt8>) -> Bool {
        guard let stream else { return false }
        stream.send(body: body)
        // One that was reset meanwhile may be another exchange's by now, and would hold the caller back for ever.
        return self.stream != nil && (stream.queuedBytes > Call.highWater || stream.isCrowded)
    }

    /// Whether something becomes of what is sent.
    var canSend: Bool { stream != nil }

    func sendEnd(trailers: HTTPHead?) {
        stream?.sendEnd(trailers: trailers)
        awaitFirstByte()
    }

    func pause(_ reason: PauseReason) { stream?.pause(reason) }
    func resume(_ reason: PauseReason) { stream?.resume(reason) }

    private func awaitFirstByte() {
        guard let limit = upstream.settings.timeouts.firstByte, !hasHead, !isOver else { return }
        let timer = Timer(on: upstream.context.loop.timers) { [unowned self] in failed(.firstByteTimeout) }
        firstByteTimer = timer
        timer.arm(after: limit)
    }

    // MARK: What arrives from the upstream

    func received(informational head: HTTPHead) {
        hasResponded = true
        guard call.upstreamLeg.attempt === self else { return }
        call.responded(informational: head)
    }

    func headCame(status: Int) {
        // What is translated twice tells it twice, and the first status is the upstream's.
        guard !hasHead else { return }
        hasResponded = true
        hasHead = true
        respondedAt = upstream.context.loop.now
        self.status = status
        if let spanIndex { call.tracing?.responded(spanIndex, status: status) }
        firstByteTimer.take()?.cancel()
        attemptTimer.take()?.cancel()
        if placement != nil { report(status: status) }
    }

    func drops(_ head: HTTPHead, in rpcProtocol: RPCProtocol) -> Bool { call.drops(self, head, in: rpcProtocol) }

    func received(head: HTTPHead, end: Bool) {
        headCame(status: head.status)
        if end { complete() }
        guard !drops(head, in: call.rpcProtocol) else { return upstream.context.release(head) }
        call.win(self)
        call.responded(head: head, end: end)
    }

    func received(body: Span<UInt8>) {
        guard !isOver else { return }
        call.responded(body: body)
    }

    func receivedEnd(trailers: HTTPHead?) {
        guard !isOver else { return }
        complete()
        call.respondedEnd(trailers: trailers)
    }

    func wasReset(_ reason: HTTPReset) {
        stream = nil
        failed(UpstreamError(reason, on: connection, hasHead: hasHead))
    }

    func drained() {
        call.callerLeg.stream.resume(.slowPeer)
        if call.upstreamLeg.isSendingSpool { call.drainedForSpool() }
    }

    var isBehind: Bool { call.callerLeg.stream.queuedBytes > Call.lowWater }

    /// Without a head at the caller, the call can still be retried, or end with an error in words.
    var needsInputBeforeReset: Bool { call.response.headSent }

    /// How many bytes are set aside for what waits, for the upstream or for the call.
    var heldBytes: Int { (stream?.heldBytes ?? 0) + (stream == nil ? 0 : connection?.heldInput ?? 0) }

    /// Since when the upstream has taken none of the bytes that wait for it; `.max` if none wait.
    var waitsSince: Instant { stream?.waitsSince ?? .max }

    /// How many bytes wait for the upstream to take them.
    var queuedBytes: Int { stream?.queuedBytes ?? 0 }
}
