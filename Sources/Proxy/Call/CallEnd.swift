internal import Bytes
internal import Dialects
internal import Events
internal import HTTP
internal import RPC
internal import Telemetry

/// How a call ends: one answer, one record, everything let go of.
extension Call {
    // MARK: Decided here

    /// Ends the call at once with an error in the caller's dialect; if an answer has begun, by breaking it off.
    ///
    /// Nothing waits for it, whatever is suspended. Those in the chain see it as the upstream's answer, unless one of them
    /// has rejected the request, or they have seen the head of an answer already.
    func fail(_ error: RPCError, by decider: CallRecord.Decider) {
        guard !isOver else { return }
        let stands = standsBetweenMessages
        isClosing = true
        endSuspensions()
        record.decider = decider
        record.message = Array(error.message.utf8)
        guard !headSent else {
            endAnswer(with: error, stands: stands)
            return finish(code: error.code, by: decider)
        }
        answer(with: error, before: hasAnswer ? 0 : hearers(of: decider))
    }

    /// The links before this place hear of a call that ends without an answer.
    private func hearers(of decider: CallRecord.Decider) -> Int {
        guard case .interceptor = decider, let place = run.decider else { return run.chain.links.count }
        return run.chain.links[place].unwinds ? place : 0
    }

    /// An interceptor has broken the call off.
    func brokenOff(at place: Int) {
        decides(place, .reset)
        caller.reset(.code(.internalError))
        finish(code: .internal, by: record.decider)
    }

    /// Answers with an error in the caller's dialect, which goes back through the links before `place`.
    func answer(with error: RPCError, before place: Int) {
        let request = request
        let type = request.first(.contentType)
        let answer =
            if let type {
                classification.dialect.answer(to: error, requestContentType: request.value(at: type))
            } else {
                classification.dialect.answer(to: error, requestContentType: Span())
            }
        send(answer, Outcome(error), before: place)
    }

    /// Sends an answer of our own, which goes back through the links before `place`.
    func send(_ answer: LocalAnswer, _ outcome: Outcome, before place: Int) {
        attempt?.count(.canceled)
        attempt?.cancel()
        attempt = nil
        forgetWaiting(.request, from: 0)
        forgetWaiting(.response, from: place)
        // What has held the source back belongs to the response that is dropped.
        lanes.response.isPaused = false
        forgetAnswer()
        isAnswered = true
        ownOutcome = outcome
        run.answer(before: place)
        let head = worker.takeHead()
        head.fill(with: answer)
        addProxyStatus(to: head, outcome)
        reader = AnswerReader(dialect: classification.dialect, codec: classification.codec)
        reader.read(head, classification.dialect)
        let request = request
        let isLast = answer.body.isEmpty && answer.trailers.isEmpty || request.method.equals("HEAD")
        guard takeAnswer(head, isLast: isLast) else { return }
        let number = answers
        if !isLast { takeAnswer(answer.body.span) }
        guard !isOver, answers == number else { return }
        let trailers = worker.takeHead()
        for (name, value) in answer.trailers { trailers.add(name: name.span, value: value.span) }
        answerIsWhole(.code(outcome.code), trailers: trailers.count > 0 ? trailers : nil)
        worker.give(trailers)
    }

    /// The head of an answer, which may be its trailers as well, goes nowhere.
    func forget(_ head: HTTPHead) {
        if answerTrailers === head { answerTrailers = nil }
        worker.give(head)
    }

    /// Nothing goes out of the answer that has come.
    func forgetAnswer() {
        // The head of an answer may be its trailers as well.
        if answerTrailers === heldHead { answerTrailers = nil }
        if let head = answerTrailers.take() { worker.give(head) }
        if let head = heldHead.take() { worker.give(head) }
        if let queue = heldBody.take() { worker.give(queue) }
        if let queue = bareMessage.take() { worker.give(queue) }
        holdsHead = false
        headTimer.take()?.cancel()
        forgetRest(.response)
        (answerReader, answerEndFrame, answerMessage, mayEndAnswer) = (nil, nil, nil, nil)
        heldMessages.answer = 0
    }

    /// An interceptor has rejected an event.
    func rejected(_ error: RPCError, at place: Int, _ event: ChainEvent, _ way: Way) {
        decides(place, .reject)
        guard way == .response else { return fail(error, by: record.decider) }
        switch event {
        case .responseHead(let head, _):
            forget(head)
            answer(with: error, before: place)
        case .responseEnd(let end):
            // It may be one that was made here already.
            end.error = error
            // Nobody has replaced it: who has rejected it has decided.
            _ = end.takeReplaced()
            pass(event, .response, from: place - 1)
        default: close(with: error, before: place)
        }
    }

    /// An interceptor has answered in the upstream's place.
    func responded(_ answer: LocalAnswer, at place: Int, _ event: ChainEvent, _ way: Way) {
        guard !headSent, !hasAnswer || event.isAnswerHead else {
            return rejected(RPCError(.internal, "an answer came behind the head of another"), at: place, event, way)
        }
        if case .responseHead(let head, _) = event { forget(head) }
        decides(place, .respond)
        answer.answersOneMessage && way == .request ? respondWhenWhole(answer, place) : respond(answer, place)
    }

    func respond(_ answer: LocalAnswer, _ place: Int) {
        if decidesByProcedure(place) { admitMethod() }
        let outcome = Outcome(conclusion(of: answer))
        if outcome.code == .ok, classification.dialect != .http { ownMessages = 1 }
        send(answer, outcome, before: place)
    }

    /// What a caller concludes from a response that an interceptor has given: it may be none of the caller's protocol.
    private func conclusion(of answer: LocalAnswer) -> Conclusion {
        let head = worker.takeHead()
        defer { worker.give(head) }
        head.fill(with: answer)
        var reader = AnswerReader(dialect: classification.dialect, codec: classification.codec)
        reader.read(head, classification.dialect)
        reader.body(answer.body.span)
        guard !answer.trailers.isEmpty else { return reader.end() }
        let trailers = worker.takeHead()
        defer { worker.give(trailers) }
        for (name, value) in answer.trailers { trailers.add(name: name.span, value: value.span) }
        return reader.end(trailers: trailers)
    }

    /// An interceptor has decided what the caller gets.
    func decides(_ place: Int, _ verdict: VerdictLabel) {
        run.decide(place)
        record.decider = .interceptor(run.chain.links[place].name)
        worker.counters.verdict(run.chain.links[place].counter, verdict)
    }

    /// Whether the configuration names the service or the method that is answered here: callers cannot make that up.
    private func decidesByProcedure(_ place: Int) -> Bool {
        run.chain.links[place].condition?.namesProcedure == true
            || routeNumber.map(generation.namesProcedure(route:)) ?? false
    }

    // MARK: The end of an answer

    /// Whether what the caller has got ends between two messages, and not with an end of the upstream's.
    var standsBetweenMessages: Bool {
        if answerForm == .framed, run.answerMeets(.responseMessages) { return true }
        // A frame that was taken out of the body has not gone out.
        let lacksEnd = answerEndFrame == nil ? reader.lacksEnd : reader.canEnd
        return !lanes.response.holdsBytes && (mayEndAnswer ?? lacksEnd)
    }

    /// Ends an answer that has begun: as the dialect has it, if the body stands between two messages, or by breaking it
    /// off.
    func endAnswer(with error: RPCError, stands: Bool) {
        guard stands, let ending = classification.dialect.ending(with: error) else {
            let isOurs = error.code == .canceled || error.code == .deadlineExceeded
            return caller.reset(.code(isOurs ? .cancel : .internalError))
        }
        if !ending.body.isEmpty { sendBody(ending.body.span) }
        guard !ending.trailers.isEmpty else { return caller.sendEnd(trailers: nil) }
        let trailers = worker.takeHead()
        for (name, value) in ending.trailers { trailers.add(name: name.span, value: value.span) }
        caller.sendEnd(trailers: trailers)
        worker.give(trailers)
    }

    /// An answer whose end nobody waits for is complete.
    func conclude(_ outcome: Outcome) {
        attempt?.count(.ok)
        record.message = outcome.message
        // What counts there is the status that the caller has got.
        if classification.dialect == .http, !outcome.isError, record.status > 0 {
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
        heldAnswer = nil
        record.code = code
        record.decider = decider
        record.stages.ended = worker.context.loop.clock.now
        attempt?.count(.canceled)
        endSuspensions()
        passFinished()
        if record.code != .ok || isTimed { worker.recent.note(self) }
        letGo()
        if worker.forwards { worker.give(request) }
    }

    private func letGo() {
        callTimer.take()?.cancel()
        deadlineTimer.take()?.cancel()
        giveReplay()
        forgetRest(.request)
        if let queue = outbox.take() { worker.give(queue) }
        if let queue = requestQuery.take() { worker.give(queue) }
        if let head = requestTrailers.take() { worker.give(head) }
        (requestReader, requestMessage) = (nil, nil)
        if !timers.isEmpty {
            for timer in timers { timer.cancel() }
            timers = []
        }
        forgetAnswer()
        // Of a call that is only explained, head and trace are still to be read.
        if worker.forwards, let trace = trace.take() { worker.give(trace) }
        attempt.take()?.cancel()
    }

    /// Nothing waits any more.
    private func endSuspensions() {
        forgetWaiting(.request, from: 0)
        forgetWaiting(.response, from: 0)
    }

    /// Counts what became of an attempt.
    func count(_ result: AttemptResult, of upstream: Upstream) {
        worker.count(result, of: upstream.counter)
    }

    /// Lets the counters know the method by its name, once the upstream has shown that it exists.
    func admitMethod() {
        guard var counted, let procedure = classification.procedure, classification.dialect != .http else { return }
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
    /// Whether an upstream that ends a call like this knows the method: others answer so whatever they are asked.
    fileprivate var showsThatMethodExists: Bool {
        switch self {
        case .unimplemented, .unauthenticated, .permissionDenied, .unavailable, .unknown: false
        default: true
        }
    }
}

extension HTTPHead {
    /// Becomes the head of an answer of our own.
    fileprivate func fill(with answer: LocalAnswer) {
        status = answer.status
        for (name, value) in answer.headers { add(name: name.span, value: value.span) }
        if answer.trailers.isEmpty, !answer.body.isEmpty { contentLength = answer.body.count }
    }
}
