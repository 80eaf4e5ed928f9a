internal import Bytes
internal import Configuration
internal import Dialects
internal import Events
internal import HTTP
internal import RPC
internal import Telemetry

/// The way of a call. Read this first.
///
/// ```
/// start → route → chain, first to last → forward → Attempt … upstream
///                   │ reject, respond                    │
///                   ▼                                    ▼
/// caller ← CallEnd ← chain, last to first ← answered: head, body, end
/// ```
extension Call {
    /// Takes the call from its head to the upstream, or to an answer of our own.
    func start() {
        takeRoute()
        // Whatever is wrong with the caller's time, those in the chain hear of the call.
        let late = takeDeadline()
        switch passRequestHead() {
        case .reject(let error): reject(error)
        case .next where late == nil: forward()
        case .respond(let answer) where late == nil:
            answer.answersOneMessage ? respondWhenWhole(answer) : respond(answer)
        case .next, .respond, .suspend: if let late { fail(late, by: .martlet) }
        }
    }

    private func takeRoute() {
        route = generation.routes.route(for: self)
        if route.chain !== run.chain { run = ChainRun(route.chain) }
        guard let upstream = route.upstream, let authority = upstream.authority else { return }
        request.setAuthority(authority.span)
    }

    func reject(_ error: RPCError) {
        worker.countVerdict(.reject, of: run)
        fail(error, by: .interceptor(run.deciderName ?? ""))
    }

    func respond(_ answer: LocalAnswer) {
        worker.countVerdict(.respond, of: run)
        record.decider = .interceptor(run.deciderName ?? "")
        if decidesByProcedure { admitMethod() }
        let code: RPCCode = answer.status < 400 ? .ok : RPCCode(inferredFromStatus: answer.status)
        if code == .ok, classification.dialect != .http { ownMessages = 1 }
        send(answer, code: code, throughChain: true)
    }

    /// Whether the configuration names the service or the method that is answered here: callers cannot make that up.
    private var decidesByProcedure: Bool {
        let condition = run.decider.flatMap { run.chain.links[$0].condition }
        return condition?.namesProcedure == true || route.condition?.namesProcedure == true
    }

    private func forward() {
        let request = request
        guard let upstream = route.upstream else {
            return fail(
                RPCError(.unimplemented, "no route for \(request.path.string)", httpStatus: 404),
                by: .martlet
            )
        }
        if upstream.speaksOnlyHTTP1, classification.dialect == .grpc {
            return fail(UpstreamFailure.needsHTTP2.error(upstream: upstream.settings.name, for: .grpc), by: .martlet)
        }
        guard measureFromStart() else { return }
        record.stages.forwarded = worker.context.loop.now
        if let limit = upstream.callTimeout {
            let timer = Timer(on: worker.context.loop.timers) { [unowned self] in attemptFailed(.callTimeout) }
            callTimer = timer
            timer.arm(after: limit)
        }
        tryUpstream(upstream)
    }

    private func tryUpstream(_ upstream: Upstream) {
        let attempt = Attempt(of: self, on: upstream)
        self.attempt = attempt
        record.attempts += 1
        attempt.start()
        // Until there is a connection, the body stays where it is.
        if self.attempt === attempt, !attempt.isConnected { caller.pause(.noUpstream) }
    }

    // MARK: What the attempt tells

    /// There is a connection: the request goes out, as far as it has come.
    func attemptConnected(_ attempt: Attempt) {
        record.stages.connected = worker.context.loop.now
        // Not in the call's hands while it is lent: the attempt may end the call, which gives the queue back.
        let kept = replay
        replay = nil
        passDeadlineOn()
        attempt.send(head: request, end: requestEnded && kept == nil)
        if let kept {
            attempt.send(body: kept.readable)
            if requestEnded { attempt.sendEnd(trailers: nil) }
            if isOver { worker.context.queues.give(kept) } else { replay = kept }
        }
        caller.resume(.noUpstream)
    }

    /// An interim answer goes to the caller as it is.
    func answered(informational head: HTTPHead) {
        // A caller can do without (RFC 9110 §15.2), and one that does not read shall not have them pile up.
        guard caller.queuedBytes <= Self.highWater else { return }
        caller.send(informational: head)
    }

    /// The head of the answer has come: it goes back through the chain to the caller.
    func answered(head: HTTPHead, end: Bool) {
        giveReplay()
        record.stages.answered = worker.context.loop.now
        reader.read(head, classification.dialect)
        if reader.isOverLimit {
            worker.context.heads.give(head)
            return answerIsOverLimit()
        }
        guard passesChain(head) else { return worker.context.heads.give(head) }
        record.status = head.status
        headSent = true
        // In an answer that is nothing but a head, the trailers are there.
        if end, run.wantsTrailers, classification.dialect.hasEnvelopes { passResponseTrailers(head) }
        caller.send(head: head, end: end)
        worker.context.heads.give(head)
        if end { conclude(reader.end()) }
    }

    /// Lets an answer go back through the chain; false if a link has decided otherwise, and that has been done.
    func passesChain(_ head: HTTPHead) -> Bool {
        switch passResponseHead(head) {
        case .next: return true
        case .reject(let error): reject(error)
        case .respond(let answer): respond(answer)
        case .suspend: return true
        }
        return false
    }

    /// Bytes of the answer's body have come.
    func answered(body: Span<UInt8>) {
        record.responseBytes += body.count
        let stoodBetween = listener.responseMessageLimit != nil && reader.canEnd
        reader.body(body)
        if reader.isOverLimit { return endBeforeTooLarge(body, stoodBetween) }
        caller.send(body: body)
        if caller.queuedBytes > Self.highWater || caller.isCrowded { attempt?.pause() }
    }

    /// The answer is complete.
    func answeredEnd(trailers: HTTPHead?) {
        let conclusion = if let trailers { reader.end(trailers: trailers) } else { reader.end() }
        guard run.wantsTrailers else {
            caller.sendEnd(trailers: trailers)
            return conclude(conclusion)
        }
        let made = trailers ?? worker.context.heads.take()
        passResponseTrailers(made)
        caller.sendEnd(trailers: made.count > 0 ? made : nil)
        if trailers == nil { worker.context.heads.give(made) }
        conclude(conclusion)
    }

    /// The attempt came to nothing: the call fails with it, unless it is one that may be tried again.
    func attemptFailed(_ failure: UpstreamFailure) {
        guard !isOver, let attempt else { return }
        attempt.count(failure.result)
        if let limit = failure.limit { worker.counters.limitHit(limit) }
        if attempt.canBeResent(after: failure), isReplayable, record.attempts < Self.mostAttempts {
            worker.counters.resend(attempt.upstream.counter)
            return tryUpstream(attempt.upstream)
        }
        attempt.cancel()
        self.attempt = nil
        fail(failure.error(upstream: attempt.upstream.settings.name, for: classification.dialect), by: .martlet)
    }
}
