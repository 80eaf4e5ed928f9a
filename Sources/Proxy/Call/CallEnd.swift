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
        let stands = standsBetweenMessages
        isClosing = true
        endSuspensions()
        record.decider = decider
        record.message = Array(error.message.utf8)
        guard !headSent else {
            endResponse(with: error, stands: stands)
            return finish(code: error.code, by: decider)
        }
        respond(with: error, before: hasResponse ? 0 : observerCount(of: decider))
    }

    /// The links before this place hear of a call that ends without a response.
    private func observerCount(of decider: CallRecord.Decider) -> Int {
        guard case .interceptor = decider, let index = run.decider else { return run.chain.links.count }
        return run.chain.links[index].unwinds ? index : 0
    }

    /// An interceptor has broken the call off.
    func resetStream(at index: Int) {
        decides(index, .reset)
        caller.reset(.code(.internalError))
        finish(code: .internal, by: record.decider)
    }

    /// Responds with an error in the caller's protocol, which goes back through the links before `index`.
    func respond(with error: RPCError, before index: Int) {
        let request = request
        let type = request.first(.contentType)
        let response =
            if let type {
                classification.rpcProtocol.response(to: error, requestContentType: request.value(at: type))
            } else {
                classification.rpcProtocol.response(to: error, requestContentType: Span())
            }
        send(response, Outcome(error), before: index)
    }

    /// Sends a response of our own, which goes back through the links before `index`.
    func send(_ response: LocalResponse, _ outcome: Outcome, before index: Int) {
        attempt?.count(.canceled)
        attempt?.cancel()
        attempt = nil
        releaseHeld(.request, from: 0)
        releaseBare(.request)
        releaseHeld(.response, from: index)
        // What has held the source back belongs to the response that is dropped.
        flows.response.queues.isPaused = false
        releaseResponse()
        hasResponded = true
        ownOutcome = outcome
        run.respond(before: index)
        let head = worker.acquireHead()
        head.fill(with: response)
        addProxyStatus(to: head, outcome)
        reader = ResponseReader(rpcProtocol: classification.rpcProtocol, codec: classification.codec)
        reader.read(head, classification.rpcProtocol)
        let request = request
        let isLast = response.body.isEmpty && response.trailers.isEmpty || request.method.equals("HEAD")
        guard receiveResponse(head, isLast: isLast) else { return }
        let number = responses
        if !isLast { receiveResponse(response.body.span) }
        guard !isOver, responses == number else { return }
        let trailers = worker.acquireHead()
        for (name, value) in response.trailers { trailers.add(name: name.span, value: value.span) }
        responseIsWhole(.code(outcome.code), trailers: trailers.count > 0 ? trailers : nil)
        worker.release(trailers)
    }

    /// The head of a response, which may be its trailers as well, goes nowhere.
    func release(_ head: HTTPHead) {
        if flows.response.trailers === head { flows.response.trailers = nil }
        worker.release(head)
    }

    /// Nothing goes out of the response that has come.
    func releaseResponse() {
        // The head of a response may be its trailers as well.
        if flows.response.trailers === heldHead { flows.response.trailers = nil }
        if let head = flows.response.trailers.take() { worker.release(head) }
        if let head = heldHead.take() { worker.release(head) }
        if let queue = heldBody.take() { worker.release(queue) }
        releaseBare(.response)
        holdsHead = false
        headTimer.take()?.cancel()
        releaseRest(.response)
        (flows.response.reader, responseEndFrame, flows.response.message, mayEndResponse) = (nil, nil, nil, nil)
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
    func responded(_ response: LocalResponse, at index: Int, _ event: ChainEvent, _ direction: Direction) {
        guard !headSent, !hasResponse || event.isResponseHead else {
            return rejected(
                RPCError(.internal, "an interceptor tried to respond after the response had started"),
                at: index,
                event,
                direction
            )
        }
        if case .responseHead(let head, _) = event { release(head) }
        decides(index, .respond)
        response.respondsToOneMessage && direction == .request
            ? respondWhenWhole(response, index) : respond(response, index)
    }

    func respond(_ response: LocalResponse, _ index: Int) {
        if decidesByProcedure(index) { admitMethod() }
        let outcome = Outcome(conclusion(of: response))
        if outcome.code == .ok, classification.rpcProtocol != .http { ownMessages = 1 }
        send(response, outcome, before: index)
    }

    /// What a caller concludes from a response that an interceptor has given: it may be none of the caller's protocol.
    private func conclusion(of response: LocalResponse) -> Conclusion {
        let head = worker.acquireHead()
        defer { worker.release(head) }
        head.fill(with: response)
        var reader = ResponseReader(rpcProtocol: classification.rpcProtocol, codec: classification.codec)
        reader.read(head, classification.rpcProtocol)
        reader.body(response.body.span)
        guard !response.trailers.isEmpty else { return reader.end() }
        let trailers = worker.acquireHead()
        defer { worker.release(trailers) }
        for (name, value) in response.trailers { trailers.add(name: name.span, value: value.span) }
        return reader.end(trailers: trailers)
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
        let lacksEnd = responseEndFrame == nil ? reader.lacksEnd : reader.canEnd
        return !flows.response.queues.holdsBytes && (mayEndResponse ?? lacksEnd)
    }

    /// Ends a response that has begun: as the protocol has it, if the body stands between two messages, or by breaking it
    /// off.
    func endResponse(with error: RPCError, stands: Bool) {
        guard stands, let ending = classification.rpcProtocol.ending(with: error) else {
            let isOurs = error.code == .canceled || error.code == .deadlineExceeded
            return caller.reset(.code(isOurs ? .cancel : .internalError))
        }
        if !ending.body.isEmpty { sendBody(ending.body.span) }
        guard !ending.trailers.isEmpty else { return caller.sendEnd(trailers: nil) }
        let trailers = worker.acquireHead()
        for (name, value) in ending.trailers { trailers.add(name: name.span, value: value.span) }
        caller.sendEnd(trailers: trailers)
        worker.release(trailers)
    }

    /// A response whose end nobody waits for is complete.
    func conclude(_ outcome: Outcome) {
        attempt?.count(.ok)
        record.message = outcome.message
        // What counts there is the status that the caller has got.
        if classification.rpcProtocol == .http, !outcome.isError, record.status > 0 {
            let code: RPCCode = record.status < 400 ? .ok : RPCCode(inferredFromStatus: record.status)
            return finish(code: code, by: record.decider)
        }
        if ownOutcome == nil, outcome.code.showsThatMethodExists { admitMethod() }
        finish(code: outcome.code, by: record.decider)
    }

    // MARK: The end of the call

    /// Completes the record, tells the chain, and lets go of everything.
    ///
    /// Later calls of it do nothing.
    func finish(code: RPCCode, by decider: CallRecord.Decider) {
        guard !isOver else { return }
        isOver = true
        worker.context.meter.add(-Self.size)
        heldResponse = nil
        record.code = code
        record.decider = decider
        record.stages.ended = worker.context.loop.clock.now
        attempt?.count(.canceled)
        endSuspensions()
        passFinished()
        run.releaseStates()
        if record.code != .ok || isTimed { worker.recent.note(self) }
        releaseAll()
        if worker.forwards { worker.release(request) }
    }

    private func releaseAll() {
        callTimer.take()?.cancel()
        deadlineTimer.take()?.cancel()
        releaseRetryBuffer()
        releaseRest(.request)
        if let queue = outbox.take() { worker.release(queue) }
        if let queue = requestQuery.take() { worker.release(queue) }
        releaseBare(.request)
        if let head = flows.request.trailers.take() { worker.release(head) }
        (flows.request.reader, flows.request.message) = (nil, nil)
        if !timers.isEmpty {
            for timer in timers { timer.cancel() }
            timers = []
        }
        releaseResponse()
        // Of a call that is only explained, head and trace are still to be read.
        if worker.forwards, let trace = trace.take() { worker.release(trace) }
        attempt.take()?.cancel()
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

    /// Lets the counters know the method by its name, once the upstream has shown that it exists.
    func admitMethod() {
        guard var counted, let procedure = classification.procedure, classification.rpcProtocol != .http else { return }
        let request = request
        let path = request.path
        worker.counters.admit(
            &counted,
            path: path,
            service: path.extracting(procedure.service),
            method: path.extracting(procedure.method)
        )
        self.counted = counted
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
