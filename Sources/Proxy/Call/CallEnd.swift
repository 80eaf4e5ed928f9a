internal import Bytes
internal import Dialects
internal import Documents
internal import Events
internal import HTTP
internal import RPC
internal import Telemetry

/// How a call ends: one answer, one record, everything let go of.
extension Call {
    /// Ends the call with an error in the caller's dialect; if an answer has begun, by breaking it off.
    func fail(_ error: RPCError, by decider: CallRecord.Decider) {
        guard !isOver else { return }
        record.decider = decider
        record.message = Array(error.message.utf8)
        guard !headSent else {
            endAnswer(with: error)
            return finish(code: error.code, by: decider)
        }
        let request = request
        let type = request.first(.contentType)
        let answer =
            if let type {
                classification.dialect.answer(to: error, requestContentType: request.value(at: type))
            } else {
                classification.dialect.answer(to: error, requestContentType: Span())
            }
        // What an interceptor rejects does not go back through the chain; what it responds does, and so does a failure
        // behind the chain, since to those in the chain it is the upstream's.
        let isRejection = if case .interceptor = decider { true } else { false }
        send(answer, code: error.code, throughChain: !isRejection)
    }

    /// Ends an answer that has begun: as the dialect has it, if the body stands between two messages, or by breaking it
    /// off.
    private func endAnswer(with error: RPCError) {
        guard mayEndAnswer ?? reader.canEnd, let ending = classification.dialect.ending(with: error) else {
            let isOurs = error.code == .canceled || error.code == .deadlineExceeded
            return caller.reset(.code(isOurs ? .cancel : .internalError))
        }
        if !ending.body.isEmpty { caller.send(body: ending.body.span) }
        guard !ending.trailers.isEmpty else { return caller.sendEnd(trailers: nil) }
        let trailers = worker.context.heads.take()
        for (name, value) in ending.trailers { trailers.add(name: name.span, value: value.span) }
        caller.sendEnd(trailers: trailers)
        worker.context.heads.give(trailers)
    }

    /// Sends an answer of our own and ends the call.
    func send(_ answer: LocalAnswer, code: RPCCode, throughChain: Bool) {
        let head = worker.context.heads.take()
        head.fill(with: answer)
        guard !throughChain || passesChain(head) else { return worker.context.heads.give(head) }
        let request = request
        record.status = head.status
        record.responseBytes += answer.body.count
        headSent = true
        let end = answer.body.isEmpty && answer.trailers.isEmpty || request.method.equals("HEAD")
        caller.send(head: head, end: end)
        if !end {
            caller.send(body: answer.body.span)
            head.fill(withTrailersOf: answer)
            if throughChain, head.count > 0 { passResponseTrailers(head) }
            caller.sendEnd(trailers: head.count > 0 ? head : nil)
        }
        worker.context.heads.give(head)
        finish(code: code, by: record.decider)
    }

    /// Ends a call whose answer from the upstream is complete.
    func conclude(_ conclusion: Conclusion) {
        attempt?.count(.ok)
        let code: RPCCode
        switch conclusion {
        case .code(let known, let message):
            code = known
            record.message = message
        case .json(let bytes, _, let isEndStream):
            code = read(error: bytes, isEndStream: isEndStream, conclusion)
        }
        if code.showsThatMethodExists { admitMethod() }
        finish(code: code, by: .upstream)
    }

    /// Reads code and message out of Connect's error JSON.
    private func read(error bytes: [UInt8], isEndStream: Bool, _ conclusion: Conclusion) -> RPCCode {
        guard let body = try? JSON.parse(bytes.span) else { return conclusion.code(fromName: nil) }
        let error = isEndStream ? body.pointer("/error") : body
        guard let error, error != .null else { return .ok }
        record.message = error.pointer("/message")?.string.map { Array($0.utf8) } ?? []
        guard let name = error.pointer("/code")?.string else { return conclusion.code(fromName: nil) }
        return conclusion.code(fromName: Array(name.utf8).span)
    }

    /// Completes the record, tells the chain, and lets go of everything.
    ///
    /// Later calls of it do nothing.
    func finish(code: RPCCode, by decider: CallRecord.Decider) {
        guard !isOver else { return }
        isOver = true
        heldAnswer = nil
        record.code = code
        record.decider = decider
        record.stages.ended = worker.context.loop.clock.now
        attempt?.count(.canceled)
        passFinished()
        callTimer?.cancel()
        callTimer = nil
        deadlineTimer?.cancel()
        deadlineTimer = nil
        giveReplay()
        let attempt = attempt
        self.attempt = nil
        attempt?.cancel()
        worker.context.heads.give(request)
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

    /// Becomes the trailers of an answer of our own.
    fileprivate func fill(withTrailersOf answer: LocalAnswer) {
        removeAll()
        for (name, value) in answer.trailers { add(name: name.span, value: value.span) }
    }
}
