internal import Bytes
internal import Configuration
internal import Events
internal import HTTP
internal import Policy
internal import Protocols
internal import RPC
internal import Telemetry
internal import Time

/// Hedging (gRFC A6): a whole request that has no response yet goes to another address as well, and the first head of a
/// response that is no failure is that of the call.
///
/// One attempt is that of the call, the others are its rivals; all send what the retry buffer keeps.
extension Call {
    /// Whether the call went to several addresses because of the time that it took.
    public var isHedged: Bool { record.hedges > 0 }

    /// The call is about to be sent: it is hedged if its method allows that.
    func prepareHedge(_ policy: HedgePolicy) {
        guard !upstreamLeg.isServed, policy.allows(self) else { return }
        upstreamLeg.hedge = Hedge(policy)
        upstreamLeg.retryBuffer.isWanted = true
    }

    /// So much of the request waits for a connection: what cannot be kept is not hedged, and waits where it is.
    func limitHedge(_ count: Int) {
        guard upstreamLeg.hedge != nil, count > route.upstream?.settings.limits.retryBuffer ?? 0 else { return }
        stopHedging()
        callerLeg.stream.pause(.noUpstream)
    }

    /// The request is too large to be sent to several addresses.
    func stopHedging() {
        guard upstreamLeg.hedge != nil else { return }
        _ = upstreamLeg.hedge.take()?.end()
        upstreamLeg.retryBuffer.isWanted = run.requestMeets(.retries)
    }

    /// The whole request is on its way: the next attempt is due after a while.
    func awaitHedge() {
        guard let hedge = upstreamLeg.hedge, upstreamLeg.hasEnd, hedge.left > 0, !hedge.isArmed else { return }
        armHedge(hedge, after: hedge.policy.pause)
    }

    private func armHedge(_ hedge: Hedge, after pause: Duration) {
        hedge.arm(after: pause, on: worker.context.loop.timers) { [unowned self] in sendHedge() }
    }

    /// Sends the request to another address, if there is one that may have it.
    private func sendHedge() {
        guard let hedge = upstreamLeg.hedge, let upstream = route.upstream, mayHedge(hedge, on: upstream) else {
            return
        }
        startHedge(hedge, on: upstream)
    }

    /// Whether the request can go to another address, which the retry budget has paid for then.
    private func mayHedge(_ hedge: Hedge, on upstream: Upstream) -> Bool {
        guard hedge.left > 0, upstreamLeg.hasEnd, let balancer = upstream.balancer,
            upstreamLeg.attempt?.placement != nil
        else { return false }
        guard keepsWholeRequest(upstream) else {
            hedge.stop()
            return false
        }
        guard balancer.hasUntried(by: self) else {
            skipHedge(hedge, .noAddress, on: upstream)
            return false
        }
        guard upstream.withdrawRetry(at: worker.context.loop.now) else {
            skipHedge(hedge, .noBudget, on: upstream)
            return false
        }
        return true
    }

    private func startHedge(_ hedge: Hedge, on upstream: Upstream) {
        hedge.use()
        record.hedges += 1
        record.attempts += 1
        let attempt = Attempt(of: self, on: upstream, isHedge: true)
        beginSpan(of: attempt)
        if upstreamLeg.attempt == nil { upstreamLeg.attempt = attempt } else { hedge.add(attempt) }
        attempt.start()
        awaitHedge()
    }

    private func skipHedge(_ hedge: Hedge, _ result: HedgeLabel, on upstream: Upstream) {
        hedge.stop()
        worker.counters.hedge(result, on: upstream.counter)
    }

    /// Whether the retry buffer has the whole request; what waits for a connection goes there, too.
    private func keepsWholeRequest(_ upstream: Upstream) -> Bool {
        guard isRetryable else { return false }
        guard let outbox = upstreamLeg.outbox else { return true }
        let kept = upstreamLeg.retryBuffer.body ?? worker.acquireQueue()
        guard kept.count + outbox.count <= upstream.settings.limits.retryBuffer else { return false }
        kept.append(outbox.readable)
        upstreamLeg.retryBuffer.body = kept
        upstreamLeg.outbox = nil
        worker.release(outbox)
        return true
    }

    // MARK: What comes of them

    /// The head of a response has come to an attempt: if it is a failure, and others go on, the attempt is over.
    ///
    /// - Parameters:
    ///   - attempt: the attempt.
    ///   - head: the head.
    ///   - rpcProtocol: what the head is in.
    /// - Returns: whether that is so.
    func drops(_ attempt: Attempt, _ head: HTTPHead, in rpcProtocol: RPCProtocol) -> Bool {
        guard let hedge = upstreamLeg.hedge, hedge.policy.isFailure(head, in: rpcProtocol) else { return false }
        if let index = head.first(.grpcStatus) {
            let code = RPCCode(grpcStatus: head.value(at: index))
            attempt.code = code
            attempt.report(code: code)
            if let span = attempt.spanIndex { tracing?.ended(span, with: code) }
        }
        attempt.count(.ok)
        let pushback = head.first(Self.pushback).map { RetryPushback(head.value(at: $0)) }
        return goOn(without: attempt, isFailure: true, pushback)
    }

    private static let pushback = FieldName("grpc-retry-pushback-ms")

    /// An attempt has come to nothing.
    ///
    /// - Returns: whether others go on.
    func goesOn(without attempt: Attempt, after error: UpstreamError) -> Bool {
        guard let hedge = upstreamLeg.hedge else { return false }
        let code = error.error(upstream: attempt.upstream.settings.name, for: rpcProtocol).code
        return goOn(without: attempt, isFailure: hedge.policy.isFailure(code), nil)
    }

    private func goOn(without attempt: Attempt, isFailure: Bool, _ pushback: RetryPushback?) -> Bool {
        guard let hedge = upstreamLeg.hedge else { return false }
        switch pushback {
        case .never: hedge.stop()
        case .after(let pause) where pause > .zero && hedge.left > 0:
            if hedge.rivals.isEmpty { return hedgeLater(hedge, than: attempt, after: pause) }
            armHedge(hedge, after: pause)
        case .after, nil:
            // What fails at once need not be waited for.
            if isFailure { sendHedge() }
        }
        // What was sent may have ended the call.
        guard upstreamLeg.hedge === hedge, !isOver else { return true }
        guard let other = hedge.rivals.first(where: { $0 !== attempt }) ?? otherThan(attempt) else { return false }
        if upstreamLeg.attempt === attempt {
            hedge.remove(other)
            upstreamLeg.attempt = other
            record.stages.connected = other.connectedAt
        } else {
            hedge.remove(attempt)
        }
        attempt.count(hedge: .failed)
        attempt.cancel()
        return true
    }

    /// The only attempt has failed, and its server says when the next one may begin: nothing is under way until then.
    private func hedgeLater(_ hedge: Hedge, than attempt: Attempt, after pause: Duration) -> Bool {
        let upstream = attempt.upstream
        let time = worker.context.loop.now.adding(saturating: pause)
        guard time < deadline.time ?? .max, mayHedge(hedge, on: upstream) else { return false }
        upstreamLeg.attempt = nil
        attempt.count(hedge: .failed)
        attempt.cancel()
        hedge.arm(after: pause, on: worker.context.loop.timers) { [unowned self] in
            if upstreamLeg.hedge === hedge, !isClosing { startHedge(hedge, on: upstream) }
        }
        return true
    }

    private func otherThan(_ attempt: Attempt) -> Attempt? {
        upstreamLeg.attempt === attempt ? nil : upstreamLeg.attempt
    }

    /// The response of an attempt is that of the call: the others are cancelled.
    func win(_ attempt: Attempt) {
        guard upstreamLeg.hedge != nil else { return }
        var losers: [Attempt] = []
        forEachAttempt { if $0 !== attempt { losers.append($0) } }
        upstreamLeg.attempt = attempt
        _ = upstreamLeg.hedge.take()?.end()
        upstreamLeg.retryBuffer.isWanted = run.requestMeets(.retries)
        record.stages.connected = attempt.connectedAt
        attempt.count(hedge: .won)
        for loser in losers {
            if loser.isConnected, loser.connectedAt < attempt.connectedAt { reportLoss(of: loser) }
            loser.count(.canceled)
            loser.cancel()
        }
    }

    /// An attempt that began earlier has no response yet.
    ///
    /// That says little of one call, and much of several in a row. A probe has done well enough if it has not failed: an
    /// address that is only slower than others would never be back.
    private func reportLoss(of loser: Attempt) {
        let isProbe = loser.placement?.isProbe == true
        loser.report(isProbe ? nil : "no response before another address")
    }

    // MARK: All attempts

    /// Calls `body` with the attempt of the call, and with those beside it.
    func forEachAttempt(_ body: (Attempt) -> Void) {
        if let attempt = upstreamLeg.attempt { body(attempt) }
        guard let hedge = upstreamLeg.hedge else { return }
        for rival in hedge.rivals { body(rival) }
    }

    /// Nothing more is wanted of what goes on at the upstream.
    func endAttempts(_ result: AttemptResult) {
        stopSendingSpool()
        let rivals = upstreamLeg.hedge.take()?.end() ?? []
        upstreamLeg.attempt?.count(result)
        upstreamLeg.attempt.take()?.cancel()
        for rival in rivals {
            rival.count(result)
            rival.cancel()
        }
    }

    /// The time of the call is over, and no attempt has a response.
    func timePassed() {
        forEachAttempt { $0.timePassed() }
    }
}
