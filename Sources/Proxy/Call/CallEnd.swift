internal import Bytes
internal import Events
internal import HTTP
internal import Protocols
internal import RPC
internal import Telemetry
internal import Time

/// How a call ends: one response, one record, everything let go of.
extension Call {
    // MARK: Decided here

    /// Ends the call at once with an error in the caller's protocol; if a response has begun, by breaking it off.
    ///
    /// Nothing waits for it, whatever is suspended. Those in the chain see it as the upstream's response, unless one of them
    /// has rejected the request, or they have seen the head of a response already.
    func fail(_ error: RPCError, by decider: CallRecord.Decider) {
        guard !isOver else { return }
        guard response.settled == nil else { return requestIsRead() }
        let stands = standsBetweenMessages
        stage = .closing
        endSuspensions()
        record.decider = decider
        record.message = Array(error.message.utf8)
        guard !response.headSent else {
            endResponse(with: error, stands: stands)
            return finish(code: error.code, by: decider)
        }
        respond(with: error, before: response.hasBegun ? 0 : observerCount(of: decider))
    }

    /// The links before this place hear of a call that ends without a response.
    private func observerCount(of decider: CallRecord.Decider) -> Int {
        guard case .interceptor = decider, let index = run.decider else { return run.chain.links.count }
        return run.chain.links[index].unwinds ? index : 0
    }

    /// An interceptor has broken the call off.
    func resetStream(at index: Int) {
        decides(index, .reset)
        callerLeg.stream.reset(.code(.internalError))
        finish(code: .internal, by: record.decider)
    }

    /// Responds with an error in the caller's protocol, which goes back through the links before `index`.
    func respond(with error: RPCError, before index: Int) {
        let received = received
        let type = received.first(.contentType)
        let own =
            if let type {
                callerLeg.side.response(to: error, requestContentType: received.value(at: type))
            } else {
                callerLeg.side.response(to: error, requestContentType: Span())
            }
        send(own, Outcome(error), before: index)
    }

    /// Sends a response of our own, which goes back through the links before `index`.
    func send(_ own: LocalResponse, _ outcome: Outcome, before index: Int) {
        send(stored(of: own), outcome, before: index)
    }

    private func stored(of own: LocalResponse) -> StoredResponse {
        let head = worker.acquireHead()
        head.fill(with: own)
        guard !own.trailers.isEmpty else { return StoredResponse(head, own.body) }
        let trailers = worker.acquireHead()
        for (name, value) in own.trailers { trailers.add(name: name.span, value: value.span) }
        return StoredResponse(head, own.body, trailers: trailers)
    }

    /// The head of a response, which may be its trailers as well, goes nowhere.
    func release(_ head: HTTPHead) {
        if flows.response.trailers === head { flows.response.trailers = nil }
        worker.release(head)
    }

    /// Nothing goes out of the response that has come.
    func releaseResponse() {
        // The head of a response may be its trailers as well.
        if flows.response.trailers === response.hold.head { flows.response.trailers = nil }
        if let head = flows.response.trailers.take() { worker.release(head) }
        if let head = response.hold.head.take() { worker.release(head) }
        if let queue = response.hold.body.take() { worker.release(queue) }
        releaseBare(.response)
        response.hold.state = .open
        response.hold.timer.take()?.cancel()
        releaseRest(.response)
        if let trailers = response.rest?.trailers { worker.release(trailers) }
        response.rest = nil
        (response.endFrame, response.mayEnd) = (nil, nil)
        flows.response.releaseMessages()
        flows.response.keptMessages = 0
    }

    /// An interceptor has rejected an event.
    func rejected(_ error: RPCError, at index: Int, _ event: ChainEvent, _ direction: Direction) {
        decides(index, .reject)
        guard direction == .response else { return fail(error, by: record.decider) }
        switch event {
        case .responseHead(let head, _):
            release(head)
            respond(with: error, before: index)
        case .responseEnd(let end):
            // It may be one that was made here already.
            end.error = error
            // Nobody has replaced it: who has rejected it has decided.
            _ = end.clearReplaced()
            pass(event, .response, from: index - 1)
        default: close(with: error, before: index)
        }
    }

    /// An interceptor has responded in the upstream's place.
    func responded(_ own: LocalResponse, at index: Int, _ event: ChainEvent, _ direction: Direction) {
        guard !response.headSent, !response.hasBegun || event.isResponseHead else {
            return rejected(
                RPCError(.internal, "an interceptor tried to respond after the response had started"),
                at: index,
                event,
                direction
            )
        }
        if case .responseHead(let head, _) = event { release(head) }
        decides(index, .respond)
        own.respondsToOneMessage && direction == .request ? respondWhenWhole(own, index) : respond(own, index)
    }

    func respond(_ own: LocalResponse, _ index: Int) { respond(stored(of: own), index) }

    /// An interceptor has given a response that it has kept, in the place of an event.
    func respondedStored(_ stored: consuming StoredResponse, at index: Int, _ event: ChainEvent) {
        if case .responseHead(let head, let isLast) = event {
            // What has come whole has not been cancelled.
            if isLast { endAttempts(.ok) }
            release(head)
        }
        decides(index, .respond)
        respond(stored, index)
    }

    private func respond(_ stored: consuming StoredResponse, _ index: Int) {
        if decidesByProcedure(index) { admitMethod() }
        let outcome = Outcome(conclusion(of: stored))
        if outcome.code == .ok, rpcProtocol != .http { response.ownMessages = 1 }
        send(stored, outcome, before: index)
    }

    /// What a caller concludes from a response that an interceptor has given: it may be none of the caller's protocol.
    private func conclusion(of stored: borrowing StoredResponse) -> Conclusion {
        var reader = callerLeg.makeReader()
        reader.read(stored.head, rpcProtocol)
        // What plain HTTP says is in the head.
        if rpcProtocol != .http { reader.body(stored.bytes.span.extracting(stored.range)) }
        return if let trailers = stored.trailers { reader.end(trailers: trailers) } else { reader.end() }
    }

    /// An interceptor has decided what the caller gets.
    func decides(_ index: Int, _ verdict: VerdictLabel) {
        run.decide(index)
        record.decider = .interceptor(run.chain.links[index].name)
        worker.counters.verdict(run.chain.links[index].counter, verdict)
    }

    /// Whether the configuration names the service or the method that is answered here: callers cannot make that up.
    private func decidesByProcedure(_ index: Int) -> Bool {
        run.chain.links[index].condition?.namesProcedure == true
            || routeNumber.map(generation.namesProcedure(route:)) ?? false
    }

    // MARK: The end of a response

    /// Whether what the caller has got ends between two messages, and not with an end of the upstream's.
    var standsBetweenMessages: Bool {
        if flows.response.form == .framed, run.responseMeets(.responseMessages) { return true }
        // A frame that was taken out of the body has not gone out.
        let lacksEnd = response.endFrame == nil ? response.reader.lacksEnd : response.reader.canEnd
        return !flows.response.queues.holdsBytes && (response.mayEnd ?? lacksEnd)
    }

    /// Ends a response that has begun: as the protocol has it, if the body stands between two messages, or by breaking it
    /// off.
    func endResponse(with error: RPCError, stands: Bool) {
        if let stream = callerLeg.rest?.stream, stream.fail(error) { return }
        guard stands, let ending = callerLeg.side.ending(with: error) else {
            let isOurs = error.code == .canceled || error.code == .deadlineExceeded
            return callerLeg.stream.reset(.code(isOurs ? .cancel : .internalError))
        }
        if !ending.body.isEmpty { sendBody(ending.body.span) }
        guard !ending.trailers.isEmpty else { return endBody(trailers: nil) }
        let trailers = worker.acquireHead()
        for (name, value) in ending.trailers { trailers.add(name: name.span, value: value.span) }
        endBody(trailers: trailers)
        worker.release(trailers)
    }

    /// A response whose end nobody waits for is complete.
    func conclude(_ outcome: Outcome) {
        upstreamLeg.attempt?.count(.ok)
        record.message = outcome.message
        // What counts there is the status that the caller has got.
        if rpcProtocol == .http, !outcome.isError, record.status > 0 {
            let code: RPCCode = record.status < 400 ? .ok : RPCCode(inferredFromStatus: record.status)
            return settle(code)
        }
        if !response.isOwn, outcome.code.showsThatMethodExists { admitMethod() }
        settle(outcome.code)
    }

    /// Ends a call whose response is complete, once nothing in this process reads the rest of its request.
    private func settle(_ code: RPCCode) {
        guard upstreamLeg.isServed, callerLeg.stream.isReadOn else { return finish(code: code, by: record.decider) }
        response.settled = (code, record.decider)
        upstreamLeg.timer.take()?.cancel()
    }

    /// Whether what serves the call in this process reads the rest of a request whose response is complete.
    package var readsOn: Bool {
        upstreamLeg.isServed && !flows.request.hasArrived && callerLeg.rest == nil && !isOver
            && upstreamLeg.attempt?.readsOn == true
    }

    /// The request of a call whose response is complete has been read, as far as it comes.
    func requestIsRead() {
        if let (code, decider) = response.settled { finish(code: code, by: decider) }
    }

    // MARK: The end of the call

    /// Completes the record, tells the chain, and lets go of everything.
    ///
    /// Later calls of it do nothing.
    func finish(code: RPCCode, by decider: CallRecord.Decider) {
        guard !isOver else { return }
        let (code, decider) = response.settled ?? (code, decider)
        stage = .over
        worker.context.meter.add(-Self.size)
        response.pending = nil
        record.code = code
        record.decider = decider
        record.stages.ended = worker.context.loop.clock.now
        forEachAttempt { $0.count(.canceled) }
        endSuspensions()
        passFinished()
        endCounting()
        run.releaseStates()
        tap?.finished(self)
        if logsTrace || isTimed || tap != nil { worker.recent.note(self) }
        tap = nil
        releaseAll()
        worker.release(request)
        worker.release(callerLeg.head)
    }

    private func releaseAll() {
        redactedBody = nil
        upstreamLeg.timer.take()?.cancel()
        deadline.timer.take()?.cancel()
        upstreamLeg.calls.take()?.leave()
        stopSendingSpool()
        releaseRetryBuffer()
        releaseRest(.request)
        if let queue = upstreamLeg.outbox.take() { worker.release(queue) }
        if let queue = upstreamLeg.query.take() { worker.release(queue) }
        releaseBare(.request)
        if let head = flows.request.trailers.take() { worker.release(head) }
        flows.request.releaseMessages()
        if !timers.isEmpty {
            for timer in timers { timer.cancel() }
            timers = []
        }
        releaseResponse()
        if let trace = trace.take() { worker.release(trace) }
        endAttempts(.canceled)
    }

    /// Nothing waits any more.
    private func endSuspensions() {
        releaseHeld(.request, from: 0)
        releaseHeld(.response, from: 0)
    }

    /// Counts what became of an attempt.
    func count(_ result: AttemptResult, of upstream: Upstream) {
        worker.count(result, of: upstream.counter)
    }
}

extension RPCCode {
    /// Whether an upstream that ends a call like this knows the method: others respond so whatever they are asked.
    fileprivate var showsThatMethodExists: Bool {
        switch self {
        case .unimplemented, .unauthenticated, .permissionDenied, .unavailable, .unknown: false
        default: true
        }
    }
}

extension HTTPHead {
    /// Becomes the head of a response of our own.
    fileprivate func fill(with response: LocalResponse) {
        status = response.status
        for (name, value) in response.headers { add(name: name.span, value: value.span) }
        if response.trailers.isEmpty, !response.body.isEmpty { contentLength = response.body.count }
    }
}
