internal import Bytes
internal import Events
internal import HTTP
internal import Telemetry

/// One try of a call on one upstream connection.
final class Attempt: HTTPStreamUser {
    let upstream: Upstream
    private let call: Call
    private var connection: UpstreamConnection?
    private var stream: (any HTTPStream)?
    private var firstByteTimer: Timer?
    private var isOver = false
    /// Something of an answer has come, be it an interim one.
    private var hasAnswered = false
    private var hasHead = false
    private var isCounted = false

    init(of call: Call, on upstream: Upstream) {
        self.call = call
        self.upstream = upstream
    }

    /// Asks the pool for a connection; the attempt goes on when there is one.
    func start() {
        upstream.acquire(for: self)
    }

    /// Whether the attempt has got its connection.
    var isConnected: Bool { connection != nil }

    /// Ends the attempt; the call is told nothing any more.
    func cancel() {
        end()
        if connection == nil { upstream.withdraw(self) }
        let stream = stream
        self.stream = nil
        stream?.reset(.canceled)
    }

    /// Counts what became of the attempt, unless that has been counted already.
    func count(_ result: AttemptResult) {
        guard !isCounted else { return }
        isCounted = true
        call.worker.counters.attempt(upstream.counter, result)
    }

    private func end() {
        isOver = true
        firstByteTimer?.cancel()
        firstByteTimer = nil
    }

    /// The exchange is over: the stream is the connection's own again.
    private func complete() {
        end()
        stream = nil
    }

    // MARK: What the pool tells

    func connected(_ connection: UpstreamConnection) {
        self.connection = connection
        stream = connection.open(for: self)
        call.attemptConnected(self)
    }

    func failed(_ failure: UpstreamFailure) {
        guard !isOver else { return }
        end()
        call.attemptFailed(failure)
    }

    // MARK: Resending

    /// Whether the connection may turn out to have died while it was idle.
    var mayNeedReplay: Bool { connection?.hasBeenIdle ?? false }

    /// Whether sending the request once more cannot do twice what was to be done once (RFC 9110 §9.2.2).
    func canBeResent(after failure: UpstreamFailure) -> Bool {
        guard case .lost = failure, !hasAnswered, let connection, connection.hasBeenIdle else { return false }
        return !connection.hasSent || isIdempotent
    }

    private var isIdempotent: Bool {
        let request = call.request
        let method = request.method
        return method.equals("GET") || method.equals("HEAD") || method.equals("OPTIONS") || method.equals("PUT")
            || method.equals("DELETE") || method.equals("TRACE")
    }

    // MARK: Towards the upstream

    var queuedBytes: Int { stream?.queuedBytes ?? 0 }

    func send(head: HTTPHead, end: Bool) {
        stream?.send(head: head, end: end)
        if end { awaitFirstByte() }
    }

    func send(body: Span<UInt8>) {
        stream?.send(body: body)
    }

    func sendEnd(trailers: HTTPHead?) {
        stream?.sendEnd(trailers: trailers)
        awaitFirstByte()
    }

    func pause() { stream?.pause(.slowPeer) }
    func resume() { stream?.resume(.slowPeer) }

    private func awaitFirstByte() {
        guard let limit = upstream.firstByteTimeout, !hasHead, !isOver else { return }
        let timer = Timer(on: upstream.context.loop.timers) { [unowned self] in failed(.firstByteTimeout) }
        firstByteTimer = timer
        timer.arm(after: limit)
    }

    // MARK: What arrives from the upstream

    func received(informational head: HTTPHead) {
        hasAnswered = true
        call.answered(informational: head)
    }

    func received(head: HTTPHead, end: Bool) {
        hasAnswered = true
        hasHead = true
        firstByteTimer?.cancel()
        firstByteTimer = nil
        if end { complete() }
        call.answered(head: head, end: end)
    }

    func received(body: Span<UInt8>) {
        guard !isOver else { return }
        call.answered(body: body)
    }

    func receivedEnd(trailers: HTTPHead?) {
        guard !isOver else { return }
        complete()
        call.answeredEnd(trailers: trailers)
    }

    func wasReset(_ reason: HTTPReset) {
        stream = nil
        switch reason {
        case .fault(let fault): failed(.badAnswer(fault))
        case .canceled, .connectionLost, .shutdown: failed(.lost)
        }
    }

    func drained() {
        call.caller.resume(.slowPeer)
    }
}
