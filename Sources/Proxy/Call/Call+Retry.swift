internal import Bytes
internal import Events
internal import HTTP
internal import Protocols
internal import RPC
public import Telemetry
internal import Time

/// Retries that an interceptor asks for: the response that has come is dropped, and the request passes once more through
/// what runs for each attempt.
extension Call {
    /// How often a call is tried at most, whoever would have it retried.
    static let maxAttempts = 32

    /// Why the call cannot be retried, if it cannot.
    public var retrySkipReason: RetrySkipReason? {
        if isClosing { return .delivered }
        guard upstreamLeg.isForwarded else { return .unsent }
        if let reason = upstreamLeg.retryBuffer.skipReason { return reason }
        guard upstreamLeg.retryBuffer.isWanted else { return .buffer }
        if record.attempts >= Self.maxAttempts { return .attempts }
        if case .callTimeout = upstreamLeg.error { return .deadline }
        if let time = deadline.time, time <= worker.context.loop.now { return .deadline }
        // Last, as a head goes out at once where something else is in the way, which is what people want to know.
        return response.headSent ? .delivered : nil
    }

    /// How often the interceptor that asks has let the call be retried.
    public var retries: Int { run.retriesOfCurrent }

    /// Whether the response that has come is the upstream's.
    public var hasUpstreamResponse: Bool { !response.isOwn }

    /// Notes that the interceptor that calls this would retry the call for `reason`, and why it does not.
    public func skipRetry(_ reason: RetryReason, _ skipReason: RetrySkipReason) {
        skipRetry(reason, skipReason, at: run.current, response.hasBegun ? .responseHead : .requestHead, isNoted: false)
    }

    /// Notes a retry that is skipped at an index of the chain; `isNoted` if an interceptor has returned `retry`.
    func skipRetry(
        _ reason: RetryReason,
        _ skipReason: RetrySkipReason,
        at index: Int,
        _ event: ChainEvent.Label,
        isNoted: Bool
    ) {
        worker.counters.retrySkipped(reason, skipReason)
        let trace = self.trace ?? worker.acquireTrace()
        self.trace = trace
        trace.now = worker.context.loop.now
        trace.retrySkipped(index, event, skipReason.text, isNoted: isNoted)
    }

    /// Why the `retry` that an interceptor has returned for an event is skipped, if it is.
    func retrySkipReason(at index: Int, _ direction: Direction) -> RetrySkipReason? {
        guard direction == .response, run.chain.links[index].events.contains(.retries) else { return .delivered }
        return retrySkipReason
    }

    /// Drops the response and retries.
    func retry(_ reason: RetryReason, at index: Int, _ event: ChainEvent) {
        if let upstream = route.upstream { worker.counters.retry(reason, on: upstream.counter) }
        worker.counters.verdict(run.chain.links[index].counter, .retry)
        // The end may wait after the event. An attempt of plain HTTP is logged with its status instead.
        let last = rpcProtocol == .http ? nil : flows.response.queues.queue(at: index)?.events.last?.event
        let code = event.code ?? last?.code
        if let attempt = upstreamLeg.attempt, let code = code.flatMap({ RPCCode(rawValue: $0) }) {
            attempt.code = code
            if let span = attempt.spanIndex { tracing?.ended(span, with: code) }
        }
        record.isRetried = true
        // The upstream did respond.
        endAttempts(.ok)
        releaseHeld(.response, from: 0)
        // What has held the source back belongs to the response that is dropped.
        flows.response.queues.isPaused = false
        if case .responseHead(let head, _) = event { release(head) }
        releaseResponse()
        response.discard(for: upstreamLeg.makeReader(messageLimit: callerLeg.listener.responseMessageLimit))
        resumption?.begin(nil, at: worker.context.loop.now)
        upstreamLeg.error = nil
        flows.response.form = .bytes
        record.decider = .upstream
        record.message = []
        run.retry(index)
        ledger.enter(.chain, at: worker.context.loop.now)
        retryAttempt()
    }

    /// Says in a gRPC request how often it was sent before (gRFC A6).
    func addRetryHeader() {
        let count = run.retryCount + record.hedges
        guard count > 0, upstreamLeg.spoken == .grpc else { return }
        request.set(Self.previousAttempts, Array("\(count)".utf8).span)
    }

    private static let previousAttempts = FieldName("grpc-previous-rpc-attempts")

    // MARK: The head of a response

    /// Whether the head of a response waits for what follows, since that may lead to a retry.
    var waitsForMore: Bool {
        upstreamLeg.retryBuffer.isWanted && upstreamLeg.rpcProtocol.hasEnvelopes && run.responseMeets(.retries)
            && retrySkipReason == nil
    }

    /// Holds the head for a moment: an error that follows at once comes with it.
    func hold(_ head: HTTPHead) {
        response.hold.head = head
        response.hold.state = .untilMore
        // Mostly what follows has come together with it, and no timer is needed.
        worker.atEndOfTurn(self)
    }

    /// The loop's turn is over, and the head still waits; not for interceptors to call.
    public func endOfTurn() {
        if !isOver { resumeAfterSpool() }
        guard response.hold.state == .untilMore, response.hold.timer == nil else { return }
        let timer = Timer(on: worker.context.loop.timers) { [unowned self] in
            // What follows is there, and waits in the chain: it may lead to a retry yet.
            if flows.response.queues.isEmpty {
                sendHeldHead()
            } else {
                response.hold.timer?.arm(after: Self.headPatience)
            }
        }
        response.hold.timer = timer
        timer.arm(after: flows.request.hasArrived ? Self.headPatience : Self.streamHeadPatience)
    }

    /// Something follows the head, or nothing does for too long.
    func sendHeldHead() {
        guard let head = response.hold.endWait() else { return }
        sendHead(head, end: false)
        guard let body = response.hold.body else { return }
        response.hold.body = nil
        sendBody(body.readable)
        worker.release(body)
    }
}
