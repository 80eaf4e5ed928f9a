internal import Bytes
internal import Compressors
internal import Events
internal import HTTP
internal import Protocols
internal import RPC
internal import Telemetry
internal import Time

/// The way of a response, be it the upstream's or our own: through the chain, to the caller.
extension Call {
    // MARK: Into the chain

    /// The head of a response sets out; it belongs to the call from now on.
    ///
    /// - Returns: whether the rest of the response may follow.
    @discardableResult
    func receiveResponse(_ head: HTTPHead, isLast: Bool) -> Bool {
        response.begin(isHeadLast: isLast)
        flows.response.form = .bytes
        head.notesEdits = true
        if run.readsResponse { chooseResponseForm(head, isLast: isLast) }
        let number = response.number
        pass(.responseHead(head, isLast: isLast), .response, from: run.chain.links.count - 1)
        return !isOver && response.number == number
    }

    /// How the body is looked at, and whether the response waits for its end; somebody on the way asks for more than the head.
    private func chooseResponseForm(_ head: HTTPHead, isLast: Bool) {
        let rpcProtocol = rpcProtocol
        response.compression = head.compression(rpcProtocol)
        guard !rpcProtocol.isUnaryConnect else { return chooseUnaryForm(head) }
        if rpcProtocol == .http, !isOwnError, run.responseMeets(.plainBodies) {
            return choosePlainForm(head, isLast: isLast)
        }
        let meetsEnd = run.responseMeets(.anyEnd)
        // What has no messages, such as the page of a proxy in between, can still become an error of the protocol.
        let isSmall = isLast || !response.reader.hasMessages && run.responseMeets([.responseEnd, .responseErrors])
        if meetsEnd, isSmall && rpcProtocol.hasEnvelopes || response.isOwn { response.hold.state = .untilEnd }
        if isLast, response.hold.isUntilEnd { flows.response.trailers = head }
        let needsMessages = run.responseMeets(.responseMessages)
        // How a response ends may be told in a frame of its body, and that may be compressed.
        let isFramed = needsMessages || !callerLeg.side.endsInTrailers && (meetsEnd || run.responseMeets(.errors))
        if response.reader.hasMessages, !isLast { flows.response.form = BodyForm(isFramed, rpcProtocol) }
        guard flows.response.form == .framed else { return }
        // What is looked at may change, and the length with it.
        head.contentLength = nil
        guard needsMessages || response.isOwn || responseProtocol == .grpcWebText else {
            flows.response.form = .tailed
            return
        }
        flows.response.reader = makeReader(.response, needsMessages: needsMessages)
    }

    private func chooseUnaryForm(_ head: HTTPHead) {
        let isError = head.status != 200
        if !isError {
            flows.response.form = BodyForm(run.responseMeets(.responseMessages), rpcProtocol)
        } else if !isOwnError, canDecompressResponse, run.responseMeets(.plainBodies) {
            flows.response.form = .plain
        }
        let isHeld =
            flows.response.form?.isWhole == true || run.waitsForOutcome
            || run.responseMeets(isError ? [.responseEnd, .responseErrors, .errors] : .responseEnd)
        guard isHeld else { return }
        response.hold.state = .untilEnd
        flows.response.trailers = removeTrailers(outOf: head)
    }

    /// A body in JSON is held until it is whole, and so is a response without a body.
    private func choosePlainForm(_ head: HTTPHead, isLast: Bool) {
        let isSmall = head.contentLength ?? 0 <= responseLimit
        let isHeld = !isLast && isSmall && head.isJSON && canDecompressResponse
        if isHeld { flows.response.form = .plain }
        if isLast || isHeld || response.isOwn && run.responseMeets(.anyEnd) { response.hold.state = .untilEnd }
    }

    /// Whether the response tells of an error that was made here.
    private var isOwnError: Bool { response.ownOutcome?.isError == true }

    private var canDecompressResponse: Bool {
        response.compression == .identity || Compressor.supports(response.compression)
    }

    /// Whether the trailers of the response are in its head, for its interceptors too: in unary Connect, where nobody asks for
    /// its end.
    public var hasTrailersInHead: Bool { rpcProtocol.isUnaryConnect && !response.hold.isUntilEnd }

    /// The trailers of unary Connect, which are headers with a prefix.
    private func removeTrailers(outOf head: HTTPHead) -> HTTPHead {
        let trailers = worker.acquireHead()
        let prefix = Array("trailer-".utf8)
        var index = 0
        while index < head.count {
            let name = head.name(at: index)
            guard name.hasPrefix(prefix) else {
                index += 1
                continue
            }
            trailers.add(name: name.extracting(prefix.count..<name.count), value: head.value(at: index))
            head.remove(at: index)
        }
        trailers.notesEdits = true
        return trailers
    }

    /// Bytes of its body have come.
    func receiveResponse(_ body: Span<UInt8>) {
        switch flows.response.form ?? .bytes {
        case .bytes: passBytes(body)
        case .tailed
        where response.reader.isOfMessages || response.reader.isWholeSuccess && !run.responseMeets(.anyEnd):
            passBytes(body)
        case .tailed: readTail(body)
        case .framed: readResponse(body)
        case .bare, .plain: keepBare(body, .response)
        }
    }

    /// Hardly anybody asks for bytes: they only wait behind what waits.
    private func passBytes(_ body: Span<UInt8>) {
        let hasReaders = run.chain.byteReaders & run.links(.response) != 0
        guard hasReaders || !flows.response.queues.isEmpty else { return leaveForCaller(.bytes, body) }
        pass(.bytes, body, .response, from: run.chain.links.count - 1)
    }

    /// Something that is no message comes, or may do so: from there on the body is looked at.
    private func readTail(_ body: Span<UInt8>) {
        flows.response.form = .framed
        flows.response.reader = makeReader(
            .response,
            needsMessages: false,
            from: response.reader.start,
            hasEnded: response.reader.startsBehindEnd
        )
        let end = response.reader.messagesEnd
        if end > 0 { passBytes(body.extracting(0..<end)) }
        readResponse(body.extracting(end..<body.count))
    }

    private func readResponse(_ body: Span<UInt8>) {
        guard var reader = flows.response.reader else { return }
        if let rest = flows.response.rest { return rest.bytes.append(body) }
        flows.response.reader = nil
        let number = response.number
        var position = 0
        if worker.turns.isSpent { yieldSource(of: .response) }
        while isOpen(.response, number), !flows.response.queues.isPaused,
            let event = reader.next(in: body, from: &position)
        {
            switch event {
            case .message(let flags, let location): messageCame(flags, reader.bytes(at: location, in: body), .response)
            case .pass(let location): passFramed(reader.bytes(at: location, in: body))
            case .end(let flags, let location): endFrameCame(flags, reader.bytes(at: location, in: body))
            case .error(let error):
                response.mayEnd = reader.lacksEnd
                failResponse(error)
            }
            if worker.turns.isSpent { yieldSource(of: .response) }
        }
        guard isOpen(.response, number) else { return }
        flows.response.reader = reader
        flows.response.pieceCame = worker.context.loop.now
        if flows.response.queues.isPaused { keepRest(body.extracting(position..<body.count), .response) }
    }

    /// The frame that ends the body, which is looked at; one that cannot be decompressed goes on as it has come.
    private func endFrameCame(_ flags: UInt8, _ payload: Span<UInt8>) {
        let arrived = payload.array
        response.endFrame = EndFrame(flags: flags, payload: arrived, content: arrived)
        guard flags & Envelope.compressed != 0 else { return }
        let plain = worker.acquireQueue()
        let isSound = decompressEnd(payload, into: plain)
        if isSound { response.reader.end(decompressed: plain.readable) }
        let content = isSound ? plain.readable.array : nil
        response.endFrame = EndFrame(flags: flags, payload: arrived, content: content)
        worker.release(plain)
    }

    /// Messages that nobody wants to see pass with their envelopes; where they came as text they leave as text.
    private func passFramed(_ bytes: Span<UInt8>) {
        guard responseProtocol == .grpcWebText else {
            return pass(.bytes, bytes, .response, from: run.chain.links.count - 1)
        }
        let text = worker.acquireQueue()
        text.append(base64: bytes, padded: true)
        pass(.bytes, text.readable, .response, from: run.chain.links.count - 1)
        worker.release(text)
    }

    /// The response has come to its proper end.
    func responseIsWhole(_ conclusion: consuming Conclusion, trailers: HTTPHead?) {
        guard response.progress != .closed else { return }
        guard run.readsResponse || !flows.response.queues.isEmpty else {
            sendEnd(trailers: trailers)
            return conclude(outcome(conclusion))
        }
        let number = response.number
        if flows.response.form?.isWhole == true, !readWhole(conclusion, trailers) { return }
        guard isOpen(.response, number) else { return }
        if flows.response.reader?.isBetweenMessages == false
            || flows.response.form == .tailed && !response.reader.canEnd
        {
            return failResponse(RPCError(.internal, "the response ends in the middle of a message"))
        }
        let outcome = outcome(conclusion)
        let asked = askedOfEnd(outcome)
        guard !flows.response.queues.isEmpty || response.hold.isUntilEnd || run.responseMeets(asked) else {
            sendHeldHead()
            if let frame = response.endFrame { send(frame) }
            sendEnd(trailers: trailers)
            return conclude(outcome)
        }
        pass(
            .responseEnd(
                ResponseEnd(outcome, trailers: responseTrailers(trailers), asked: asked, rpcProtocol)
            ),
            .response,
            from: run.chain.links.count - 1
        )
    }

    /// How the response went: as was decided here, or as it says itself.
    private func outcome(_ conclusion: consuming Conclusion) -> Outcome {
        // Asked first: what is unwrapped is copied before it is known whether there is something in it.
        if response.isOwn, let own = response.ownOutcome { return own }
        let outcome = Outcome(conclusion)
        if let attempt = upstreamLeg.attempt, attempt.placement != nil { report(outcome.code, of: attempt) }
        return outcome
    }

    /// What has come of an attempt counts for its address.
    private func report(_ code: RPCCode, of attempt: Attempt) {
        // A server that knows the deadline says so when that is over.
        if code == .deadlineExceeded, isDeadlineOver {
            return attempt.report("no response within the time of a call")
        }
        attempt.report(code: rpcProtocol == .http ? .ok : code)
    }

    /// What is asked for by those who are to see the end of this response.
    private func askedOfEnd(_ outcome: Outcome) -> EventSet {
        let rpcProtocol = rpcProtocol
        // Of one that has been let go, trailers behind it are all that can still be told.
        guard response.hold.state != .released else {
            return rpcProtocol.isUnaryConnect ? .responseBytes : [.responseBytes, .responseTrailers]
        }
        var asked: EventSet = [.responseEnd, .responseBytes]
        if outcome.code != .ok, rpcProtocol != .http || response.ownOutcome != nil { asked.insert(.responseErrors) }
        let hasTrailers =
            rpcProtocol.isUnaryConnect
            ? flows.response.trailers != nil : rpcProtocol.hasEnvelopes || !response.isHeadLast
        if hasTrailers { asked.insert(.responseTrailers) }
        if outcome.code != .ok { asked.insert(.errors) }
        return asked
    }

    /// The trailers as the chain sees them, wherever the protocol has them.
    private func responseTrailers(_ arrived: HTTPHead?) -> HTTPHead {
        if let known = flows.response.trailers { return known }
        let trailers = worker.acquireHead()
        if let arrived { trailers.copy(arrived) }
        if let content = response.endFrame?.content { trailers.add(endFrame: content, of: rpcProtocol) }
        trailers.notesEdits = true
        flows.response.trailers = trailers
        return trailers
    }

    // MARK: Failures behind the chain

    /// There will be no response, or no more of it: those in the chain see that as the upstream's.
    func responseFailed(_ error: RPCError) {
        guard !isOver else { return }
        record.decider = .martlet
        guard response.hasBegun else { return respond(with: error, before: run.chain.links.count) }
        guard flows.response.rest == nil else {
            response.failUpstream()
            releaseHeld(.request, from: 0)
            releaseRequest()
            return endAfterRest(.response) { [unowned self] in responseFailed(error) }
        }
        close(with: error, before: run.chain.links.count)
    }

    func failResponse(_ error: RPCError) {
        if error.code == .resourceExhausted { worker.counters.limitHit(.heldMessage) }
        endAttempts(.badResponse)
        responseFailed(error)
    }

    /// Ends a response that is under way with an error, at an index of the chain: nothing more of it comes there.
    func close(with error: RPCError, before index: Int) {
        guard response.progress != .closed else { return }
        response.progress = .closed
        releaseHeld(.request, from: 0)
        releaseHeld(.response, from: index)
        endAttempts(.canceled)
        let trailers = flows.response.trailers ?? worker.acquireHead()
        trailers.notesEdits = true
        flows.response.trailers = trailers
        let end = ResponseEnd(failing: error, trailers: trailers, rpcProtocol)
        pass(.responseEnd(end), .response, from: index - 1)
    }

    // MARK: Out of the chain

    /// An event has come back through the chain.
    func leaveForCaller(_ event: ChainEvent, _ bytes: Span<UInt8>) {
        guard !isOver else { return }
        switch event {
        case .responseHead(let head, let isLast): responseHeadLeaves(head, isLast: isLast)
        case .message(let message): write(message, bytes, .response) { sendCaller($0) }
        case .bytes: sendCaller(bytes)
        case .responseEnd(let end): responseEndLeaves(end)
        case .requestHead, .requestEnd: break
        }
    }

    private func responseHeadLeaves(_ head: HTTPHead, isLast: Bool) {
        if response.hold.isUntilEnd {
            response.hold.head = head
        } else if !isLast, waitsForMore {
            hold(head)
        } else {
            sendHead(head, end: isLast)
        }
    }

    private func sendEnd(trailers: HTTPHead?) {
        sendHeldHead()
        if !response.isHeadLast { endBody(trailers: trailers) }
    }

    func sendHead(_ head: HTTPHead, end: Bool) {
        record.status = head.status
        record.responseLength = head.contentLength
        response.headSent = true
        if upstreamLeg.retryBuffer.isWanted { releaseRetryBuffer() }
        tap?.sent(head: head, self)
        callerLeg.stream.send(head: head, end: end)
        worker.release(head)
    }

    /// Ends the body of the response, with trailers if there are some.
    func endBody(trailers: HTTPHead?) {
        tap?.sentEnd(trailers: trailers, self)
        callerLeg.stream.sendEnd(trailers: trailers)
    }

    func sendBody(_ bytes: Span<UInt8>) {
        record.responseBytes += bytes.count
        tap?.sent(body: bytes, self)
        callerLeg.stream.send(body: bytes)
    }

    private func sendCaller(_ bytes: Span<UInt8>) {
        if run.chain.byteObservers != 0 { show(bytes, .response) }
        sendHeldHead()
        guard response.hold.head != nil else { return sendBody(bytes) }
        let body = response.hold.body ?? worker.acquireQueue()
        response.hold.body = body
        flows.response.pieceCame = worker.context.loop.now
        body.append(bytes)
        // An error so large is let through as it is, with what follows.
        if flows.response.form == .bytes, body.count > responseLimit { sendHeldResponse() }
    }

    /// Sends what is held of a response.
    private func sendHeldResponse() {
        guard let head = response.hold.head else { return }
        response.hold.head = nil
        // Nobody is asked about its end any more: that could not be told.
        response.hold.state = .released
        if rpcProtocol.isUnaryConnect, let trailers = flows.response.trailers {
            passFields(of: head, trailers: trailers)
            putBackTrailers(trailers, into: head)
        } else {
            passFields(of: head, trailers: nil)
        }
        sendHead(head, end: false)
        guard let body = response.hold.body else { return }
        response.hold.body = nil
        sendBody(body.readable)
        worker.release(body)
    }
}

extension HTTPHead {
    /// Whether it says that JSON follows: `application/json`, or a type that ends in `+json` (RFC 6839 §3.1).
    fileprivate var isJSON: Bool {
        guard let index = first(.contentType) else { return false }
        let value = value(at: index)
        let type = value.extracting(0..<(value.firstIndex(of: UInt8(ascii: ";")) ?? value.count)).trimmed
        guard type.count >= 5 else { return false }
        return type.equalsIgnoringCase("application/json")
            || type.extracting(type.count - 5..<type.count).equalsIgnoringCase("+json")
    }
}
