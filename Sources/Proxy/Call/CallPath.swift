internal import Bytes
internal import Configuration
internal import Events
internal import HTTP
internal import Policy
internal import Protocols
internal import RPC
internal import Telemetry
internal import Time

/// The way of a call. Read this first.
///
/// ```
/// start → route → chain, first to last → forward → Attempt … upstream
///                   │ reject, respond                    │
///                   ▼                                    ▼
/// caller ← CallEnd ← chain, last to first ← responded: head, body, end
/// ```
///
/// What the chain does with an event is in Call+Chain.swift. What follows the head of a request is in Call+Request.swift,
/// the way of a response in Call+Response.swift.
extension Call {
    /// Takes the call from its head to the upstream, or to a response of our own.
    func start() {
        if worker.context.memory.isExhausted { return rejectForMemory() }
        if let rejection = callerLeg.listener.callerGuard.rejection(of: received, overTCP: peer.isTCP) {
            return reject(rejection)
        }
        if generation.calls > LoopGuard.few, LoopGuard.findsLoop(in: request, isSample: isTimed) {
            return reject(.loop)
        }
        chooseRoute()
        countForward()
        // Whatever is wrong with the caller's time, those in the chain hear of the call.
        setDeadline()
        measureRequest()
        request.notesEdits = true
        upstreamLeg.hasEnd = flows.request.hasArrived && run.chain.mask([.requestMessages, .requestEnd]) == 0
        pass(.requestHead, .request, from: 0)
        if flows.request.hasArrived, !upstreamLeg.hasEnd, acceptsRequest { requestIsWhole(trailers: nil) }
    }

    private func chooseRoute() {
        (routeNumber, route) = generation.route(for: self)
        if route.chain !== run.chain { run = ChainRun(route.chain) }
        isRouted = true
        keepRedactedBody()
        if let taps = worker.taps { tap = taps.makeTap(for: self) }
        guard let upstream = route.upstream else { return }
        // A request of HTTP/1.0 may name no host. HTTP/2 and HTTP/1.1 have no such requests.
        let request = request
        guard let authority = upstream.authority ?? (request.authority.count > 0 ? nil : upstream.spareAuthority)
        else { return }
        request.setAuthority(configured: authority.span)
    }

    /// The head has left the chain: the call goes to its upstream.
    func forward() {
        if endsHere { return respondAsLast() }
        if let error = callerLeg.rest?.error ?? deadline.error { return fail(error, by: .martlet) }
        let request = request
        guard let upstream = route.upstream else {
            let error = RPCError(.unimplemented, "no route for \(request.path.string)", httpStatus: 404)
            return fail(missingRESTPaths ?? error, by: .martlet)
        }
        if let error = chooseProtocol(upstream) { return fail(error, by: .martlet) }
        if upstream.speaksOnlyHTTP1, upstreamLeg.side.needsHTTP2 {
            return fail(UpstreamError.needsHTTP2.error(upstream: upstream.settings.name, for: .grpc), by: .martlet)
        }
        upstreamLeg.progress = .forwarded
        upstreamLeg.retryBuffer.isWanted = run.requestMeets(.retries)
        if let policy = upstream.hedging { prepareHedge(policy) }
        guard isWithinLimit() else { return }
        if let limit = upstream.settings.limits.calls, !enter(upstream, limit: limit) { return }
        // Messages that are looked at may change, and the length with them.
        if likelyRequestForm == .framed { request.contentLength = nil }
        record.stages.forwarded = worker.context.loop.now
        upstream.budget.deposit(at: record.stages.forwarded)
        if let limit = upstream.settings.timeouts.call {
            let timer = Timer(on: worker.context.loop.timers) { [unowned self] in timedOut(upstream) }
            upstreamLeg.timer = timer
            timer.arm(after: limit)
        }
        startAttempt()
    }

    /// The call is one more of its upstream, unless there are too many; then it has ended.
    private func enter(_ upstream: Upstream, limit: Int) -> Bool {
        guard upstreamLeg.calls == nil, let calls = upstream.calls else { return true }
        guard calls.enter(limit: limit) else {
            worker.counters.limitHit(.upstreamCalls)
            let problem = "upstream \(upstream.settings.name): limits.calls is reached"
            fail(RPCError(.resourceExhausted, problem, httpStatus: 503), by: .martlet)
            return false
        }
        upstreamLeg.calls = calls
        return true
    }

    /// Sends the request, as far as it has come, on a connection to the upstream.
    func startAttempt() {
        guard case .upstream(let upstream) = route.destination else { return startRehearsed() }
        start(on: upstream)
    }

    /// Begins an attempt on an upstream, or on what stands for it.
    func start(on upstream: Upstream) {
        let attempt = Attempt(of: self, on: upstream)
        upstreamLeg.attempt = attempt
        record.attempts += 1
        beginSpan(of: attempt)
        ledger.enter(.connecting, at: worker.context.loop.now)
        attempt.start()
        awaitHedge()
        // Until there is a connection, the body stays where it is; whole, it may go elsewhere.
        let isWaiting = upstreamLeg.attempt === attempt && !attempt.isConnected
        if isWaiting, upstreamLeg.hedge == nil { callerLeg.stream.pause(.noUpstream) }
    }

    // MARK: What the attempt tells

    /// There is a connection: the request goes out, as far as it has left the chain.
    func attemptConnected(_ attempt: Attempt) {
        // What was kept for it may have been given up meanwhile.
        guard !attempt.isHedge || isRetryable else {
            attempt.cancel()
            return attemptFailed(attempt, .lost)
        }
        if upstreamLeg.attempt === attempt, !response.hasBegun { record.stages.connected = attempt.connectedAt }
        ledger.enter(.attempt, at: attempt.connectedAt)
        // Not in the call's hands while they are lent: the attempt may end the call, which gives the queues back. And one
        // that fails meanwhile is followed by another only when they are back.
        let spool = upstreamLeg.retryBuffer.spool
        let kept = upstreamLeg.retryBuffer.body.take()
        // Behind what is in the spool, it stays where it is.
        let waiting = spool == nil ? upstreamLeg.outbox.take() : nil
        upstreamLeg.beginSending()
        // The connection of the attempt before may have been crowded. What has waited for that goes behind what was kept.
        if record.attempts > 1 {
            callerLeg.stream.pause(.noUpstream)
            callerLeg.stream.resume(.slowPeer)
        }
        completeHead()
        nameSpan(of: attempt)
        let isBare = kept == nil && spool == nil && waiting == nil && flows.request.trailers == nil
        attempt.send(head: request, end: upstreamLeg.hasEnd && isBare)
        var isBlocked = false
        if let kept {
            isBlocked = attempt.send(body: kept.readable)
            if isOver { worker.release(kept) } else { upstreamLeg.retryBuffer.body = kept }
        }
        if let waiting {
            if !isOver { sendUpstream(waiting.readable) }
            worker.release(waiting)
        }
        if upstreamLeg.hasEnd, !isBare, spool == nil, !isOver { attempt.sendEnd(trailers: flows.request.trailers) }
        if let error = upstreamLeg.endSending() { return attemptFailed(attempt, error) }
        if let spool, !isOver { send(spool, by: attempt, isBlocked: isBlocked) }
        callerLeg.stream.resume(.noUpstream)
    }

    /// Writes into the head what is known only now.
    func completeHead() {
        // An upstream has nothing to allow where the body has come, or there is none (RFC 9110 §10.1.1).
        let request = request
        if request.expectsContinue, record.requestBytes > 0 || upstreamLeg.hasEnd { request.expectsContinue = false }
        if let query = upstreamLeg.query { setQuery(message: query.readable) }
        // Attempts that run side by side send the same head.
        if !upstreamLeg.hasDefaults { addDefaults() }
        upstreamLeg.hasDefaults = true
        passDeadlineOn()
        addRetryHeader()
    }

    /// Passes an interim response of the upstream to the caller as it is.
    func responded(informational head: HTTPHead) {
        keepCookies(of: head)
        guard resumption?.isUnderWay != true else { return }
        show(interim: head)
        send(informational: head)
    }

    /// Sends an interim response to the caller.
    func send(informational head: HTTPHead) {
        // A caller can do without (RFC 9110 §15.2), and one that does not read shall not have them pile up.
        guard callerLeg.stream.queuedBytes <= Self.highWater else { return }
        callerLeg.stream.send(informational: head)
    }

    /// The head of the upstream's response has come.
    func responded(head: HTTPHead, end: Bool) {
        guard resumption == nil || beginsResponse(head, end: end) else { return }
        let loop = worker.context.loop
        if !upstreamLeg.isServed { worker.services.responseDates?.complete(head, at: loop.now, loop.clock.wall) }
        if !upstreamLeg.retryBuffer.isWanted { releaseRetryBuffer() }
        keepCookies(of: head)
        record.stages.responded = loop.now
        response.reader.read(head, upstreamLeg.rpcProtocol)
        if response.reader.isOverLimit {
            worker.release(head)
            return responseIsOverLimit()
        }
        if receiveResponse(head, isLast: end), end { responseIsWhole(response.reader.end(), trailers: nil) }
    }

    /// Bytes of the response's body have come.
    func responded(body: Span<UInt8>) {
        guard resumption == nil else { return resumed(body: body) }
        bodyCame(body)
    }

    /// Bytes of the body have come, each of them once.
    func bodyCame(_ body: Span<UInt8>) {
        let stoodBetween = callerLeg.listener.responseMessageLimit != nil && response.reader.lacksEnd
        response.reader.body(body)
        if response.reader.isOverLimit { return endBeforeTooLarge(body, stoodBetween) }
        receiveResponse(body)
        if callerLeg.stream.queuedBytes > Self.highWater || callerLeg.stream.isCrowded {
            upstreamLeg.attempt?.pause(.slowPeer)
        }
    }

    /// The response is complete.
    func respondedEnd(trailers: HTTPHead?) {
        guard resumption == nil || endsResponse() else { return }
        if flows.response.rest != nil { return endResponseAfterRest(trailers) }
        let conclusion = if let trailers { response.reader.end(trailers: trailers) } else { response.reader.end() }
        responseIsWhole(conclusion, trailers: trailers)
    }

    private func endResponseAfterRest(_ trailers: HTTPHead?) {
        var kept: HTTPHead?
        if let trailers {
            kept = HTTPHead()
            kept?.copy(trailers)
        }
        endAfterRest(.response) { [unowned self] in respondedEnd(trailers: kept) }
    }

    /// The attempt came to nothing: the call fails with it, unless it is one that may be retried.
    func attemptFailed(_ attempt: Attempt, _ error: UpstreamError) {
        guard !isOver, upstreamLeg.has(attempt) else { return }
        guard !upstreamLeg.failedSending(error) else { return }
        attempt.count(error.result)
        attempt.count(hedge: .failed)
        if let limit = error.limit { worker.counters.limitHit(limit) }
        let maxAttempts = SentRequest.maxAttempts(isBalanced: attempt.placement != nil)
        let isAlone = upstreamLeg.hedge?.rivals.isEmpty ?? true
        if isAlone, attempt.canRetry(after: error), isRetryable, record.attempts < maxAttempts {
            worker.counters.retry(.connection, on: attempt.upstream.counter)
            return retryAttempt()
        }
        if goesOn(without: attempt, after: error) || resumes(attempt, after: error) { return }
        endAttempts(error.result)
        fail(with: resumption?.cause ?? error, of: attempt.upstream)
    }

    /// There is no response, or no more of it, because of an error.
    func fail(with error: UpstreamError, of upstream: Upstream) {
        upstreamLeg.error = error
        responseFailed(error.error(upstream: upstream.settings.name, for: rpcProtocol))
    }

    /// The time that the upstream's settings allow is over, be there an attempt or not.
    private func timedOut(_ upstream: Upstream) {
        timePassed()
        endAttempts(.timeout)
        upstreamLeg.error = .callTimeout
        let error = UpstreamError.callTimeout.error(upstream: upstream.settings.name, for: rpcProtocol)
        responseFailed(sayingWhere(error))
    }

    /// Retries: the head goes again through what runs for each attempt, as it entered there.
    func retryAttempt() {
        stopSendingSpool()
        upstreamLeg.hasDefaults = false
        guard let first = run.firstPerAttempt else {
            resumption?.ask(request)
            return startAttempt()
        }
        upstreamLeg.attempt = nil
        upstreamLeg.progress = .retried
        request.returnToMark()
        resumption?.ask(request)
        pass(.requestHead, .request, from: first)
    }
}
