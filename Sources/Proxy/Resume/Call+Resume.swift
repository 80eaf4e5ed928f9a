internal import Bytes
internal import Configuration
internal import Events
internal import HTTP
internal import Policy
internal import Protocols
internal import RPC
internal import Telemetry
internal import Time

/// Responses that break off behind their head: a further attempt continues them, and neither the chain nor the caller notices.
extension Call {
    /// Lets the response be resumed if it breaks off; for hooks of the head of the request.
    ///
    /// Only for a GET in plain HTTP; other calls are not changed. The response has to have a length and a strong validator.
    public func resumesResponse(_ policy: ResumePolicy) {
        let request = request
        guard resumption == nil, rpcProtocol == .http, request.method.equals("GET") else { return }
        resumption = Resumption(policy, at: run.current)
    }

    // MARK: What arrives

    /// The head of a response has come.
    ///
    /// - Returns: whether a response begins with it; otherwise it continues one, or that has ended.
    func beginsResponse(_ head: HTTPHead, end: Bool) -> Bool {
        guard let resumption else { return true }
        guard resumption.isUnderWay else {
            // What has a body, or is served here, cannot be asked for once more.
            let isPlainGet = upstreamLeg.hasEnd && record.requestBytes == 0 && !upstreamLeg.isServed
            let point = isPlainGet && !end ? ResumePoint(head, now: worker.context.loop.clock.wall) : nil
            resumption.begin(point, at: worker.context.loop.now)
            if point != nil { watch(resumption) }
            return true
        }
        keepCookies(of: head)
        let continuation = resumption.continuation(head)
        worker.release(head)
        switch continuation {
        case .continues where end: abandon(resumption, .rejected)
        case .continues(let count): continueResponse(resumption, skipping: count)
        case .changed: abandon(resumption, .changed)
        case .unavailable: resumeLater(resumption)
        case .rejected: abandon(resumption, .rejected)
        }
        return false
    }

    /// The upstream cannot continue the response yet, which counts as an attempt without a response.
    private func resumeLater(_ resumption: Resumption) {
        guard let attempt = upstreamLeg.attempt, let cause = resumption.cause else { return }
        skip(resumption, .failed)
        switch resumeDelay(resumption, on: attempt.upstream) {
        case .failure(let skipped): abandon(resumption, skipped.result)
        case .success(let delay):
            resumption.breakOff(cause)
            endAttempts(.ok)
            resume(resumption, after: delay)
        }
    }

    private func continueResponse(_ resumption: Resumption, skipping count: Int) {
        resumption.resume(skipping: count, at: worker.context.loop.now)
        worker.counters.resume(.resumed)
        note { $0.resumed(resumption.index, at: resumption.offset) }
        if flows.response.queues.isPaused { upstreamLeg.attempt?.pause(.held) }
    }

    /// What the upstream has responded does not continue the response.
    private func abandon(_ resumption: Resumption, _ result: ResumeResult) {
        skip(resumption, result)
        let upstream = upstreamLeg.attempt?.upstream
        endAttempts(.ok)
        if let cause = resumption.cause, let upstream { fail(with: cause, of: upstream) }
    }

    /// Bytes have come of a response that may be resumed, or has been.
    func resumed(body: Span<UInt8>) {
        guard let skipped = resumption?.receive(body.count, at: worker.context.loop.now) else {
            return failResponse(RPCError(.unavailable, "the rest of the response is longer than it was to be"))
        }
        if skipped == 0 { return bodyCame(body) }
        if skipped < body.count { bodyCame(body.extracting(skipped..<body.count)) }
    }

    /// The attempt has brought all it has.
    ///
    /// - Returns: whether the response is complete; one without a length may continue another and be too short.
    func endsResponse() -> Bool {
        guard let resumption, !resumption.isComplete, let attempt = upstreamLeg.attempt else { return true }
        attempt.count(.badResponse)
        if !resumes(attempt, after: .cutOff) {
            endAttempts(.badResponse)
            fail(with: .cutOff, of: attempt.upstream)
        }
        return false
    }

    // MARK: Further attempts

    /// An attempt has come to nothing: whether another is made, or will be, to continue the response.
    func resumes(_ attempt: Attempt, after error: UpstreamError) -> Bool {
        guard let resumption, mayResume(resumption) else { return false }
        if resumption.isUnderWay {
            if repeats(attempt, resumption, after: error) { return true }
            skip(resumption, .failed)
        } else {
            guard error.breaksOff, !resumption.isComplete else { return false }
        }
        switch resumeDelay(resumption, on: attempt.upstream) {
        case .failure(let skipped):
            skip(resumption, skipped.result)
            return false
        case .success(let delay):
            resumption.breakOff(error)
            upstreamLeg.attempt.take()?.cancel()
            resume(resumption, after: delay)
            return true
        }
    }

    /// Whether the response of the upstream is under way, and can be resumed.
    private func mayResume(_ resumption: Resumption) -> Bool {
        resumption.isPossible && !isClosing && response.hasBegun && response.progress == .open && !response.isOwn
    }

    /// Repeats an attempt whose connection was of no use, which says nothing of the upstream.
    private func repeats(_ attempt: Attempt, _ resumption: Resumption, after error: UpstreamError) -> Bool {
        let most = SentRequest.maxAttempts(isBalanced: attempt.placement != nil)
        guard attempt.canRetry(after: error), resumption.repeats + 1 < most else { return false }
        resumption.repeatAttempt()
        worker.counters.retry(.connection, on: attempt.upstream.counter)
        upstreamLeg.attempt.take()?.cancel()
        retryAttempt()
        return true
    }

    private struct Skipped: Error { let result: ResumeResult }

    /// How long to wait; otherwise, what is in the way.
    private func resumeDelay(_ resumption: Resumption, on upstream: Upstream) -> Result<Duration, Skipped> {
        guard resumption.count < resumption.policy.max, record.attempts < Self.maxAttempts else {
            return .failure(Skipped(result: .exhausted))
        }
        let chance = worker.services.randomFraction()
        let delay = resumption.policy.delay.time(after: resumption.count, chance: chance)
        let time = worker.context.loop.now.adding(saturating: delay)
        guard time < deadline.time ?? .max else { return .failure(Skipped(result: .deadline)) }
        guard upstream.withdrawRetry(at: worker.context.loop.now) else { return .failure(Skipped(result: .budget)) }
        return .success(delay)
    }

    private func resume(_ resumption: Resumption, after delay: Duration) {
        guard delay > .zero else {
            ledger.enter(.chain, at: worker.context.loop.now)
            return retryAttempt()
        }
        ledger.wait(resumption.index, at: worker.context.loop.now)
        _ = timer(after: delay) { [unowned self] in
            guard mayResume(resumption), resumption.isUnderWay, upstreamLeg.attempt == nil else { return }
            resume(resumption, after: .zero)
        }
    }

    // MARK: Stalled responses

    /// Ends an attempt of which nothing comes for too long, while the caller takes what comes.
    private func watch(_ resumption: Resumption) {
        guard resumption.timer == nil, let limit = resumption.policy.stalled else { return }
        resumption.timer = timer(after: limit) { [unowned self] in endStalled(resumption, limit) }
    }

    private func endStalled(_ resumption: Resumption, _ limit: Duration) {
        let now = worker.context.loop.now
        guard mayResume(resumption) else {
            resumption.timer = nil
            return
        }
        let isHeldBack = callerLeg.stream.queuedBytes > Self.lowWater || flows.response.queues.isPaused
        guard let attempt = upstreamLeg.attempt, attempt.isConnected, !isHeldBack else {
            resumption.waitsSince = now
            resumption.timer?.arm(after: limit)
            return
        }
        let idle = now - max(resumption.waitsSince, attempt.connectedAt)
        resumption.timer?.arm(after: idle < limit ? limit - idle : limit)
        if idle >= limit { attempt.failed(.stalled) }
    }

    // MARK: What is told

    /// Whether the log has the trace of the call: it has failed, or its response has broken off.
    var logsTrace: Bool { record.code != .ok || resumption?.count ?? 0 > 0 }

    /// Counts and notes why the response is not continued.
    private func skip(_ resumption: Resumption, _ result: ResumeResult) {
        worker.counters.resume(result)
        note { $0.resumeSkipped(resumption.index, result.text) }
    }

    private func note(_ add: (DecisionTrace) -> Void) {
        let trace = self.trace ?? worker.acquireTrace()
        self.trace = trace
        trace.now = worker.context.loop.now
        add(trace)
    }
}

extension UpstreamError {
    /// Whether it may end a response behind its head that was well until then.
    fileprivate var breaksOff: Bool {
        switch self {
        case .cutOff, .lost, .reset, .unprocessed, .stalled, .security: true
        default: false
        }
    }
}
