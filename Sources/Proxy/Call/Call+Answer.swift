internal import Bytes
internal import Compressors
internal import Dialects
internal import Events
internal import HTTP
internal import RPC
internal import Telemetry

/// The way of an answer, be it the upstream's or our own: through the chain, to the caller.
extension Call {
    // MARK: Into the chain

    /// The head of an answer sets out; it belongs to the call from now on.
    ///
    /// - Returns: whether the rest of the answer may follow.
    @discardableResult
    func takeAnswer(_ head: HTTPHead, isLast: Bool) -> Bool {
        answers += 1
        isAnswerClosed = false
        isHeadLast = isLast
        (answerForm, isPlainBody) = (.bytes, false)
        holdsAnswer = false
        isReleased = false
        head.notesEdits = true
        if run.looksAtAnswer { chooseAnswerForm(head, isLast: isLast) }
        let number = answers
        pass(.responseHead(head, isLast: isLast), .response, from: run.chain.links.count - 1)
        return !isOver && answers == number
    }

    /// How the body is looked at, and whether the answer waits for its end; somebody on the way asks for more than the head.
    private func chooseAnswerForm(_ head: HTTPHead, isLast: Bool) {
        let dialect = classification.dialect
        answerCompression = head.compression(dialect)
        guard !dialect.isUnaryConnect else { return chooseUnaryForm(head) }
        if dialect == .http, !isOwnError, run.answerMeets(.plainBodies) {
            return choosePlainForm(head, isLast: isLast)
        }
        let meetsEnd = run.answerMeets(.anyEnd)
        // What has no messages, such as the page of a proxy in between, can still become an error of the dialect.
        let isSmall = isLast || !reader.hasMessages && run.answerMeets([.responseEnd, .responseErrors])
        holdsAnswer = meetsEnd && (isSmall && dialect.hasEnvelopes || ownOutcome != nil)
        if isLast, holdsAnswer { answerTrailers = head }
        let wantsMessages = run.answerMeets(.responseMessages)
        // How an answer ends may be told in a frame of its body, and that may be compressed.
        let isFramed = wantsMessages || dialect != .grpc && (meetsEnd || run.answerMeets(.failures))
        if reader.hasMessages, !isLast { answerForm = BodyForm(isFramed, dialect) }
        guard answerForm == .framed else { return }
        // What is looked at may change, and the length with it.
        head.contentLength = nil
        guard wantsMessages || ownOutcome != nil || answerDialect == .grpcWebText else {
            answerForm = .tailed
            return
        }
        answerReader = makeReader(.answer, wantsMessages: wantsMessages)
    }

    private func chooseUnaryForm(_ head: HTTPHead) {
        let isError = head.status != 200
        if !isError {
            answerForm = BodyForm(run.answerMeets(.responseMessages), classification.dialect)
        } else if !isOwnError, canDecompressAnswer, run.answerMeets(.plainBodies) {
            (answerForm, isPlainBody) = (.bare, true)
        }
        holdsAnswer =
            answerForm == .bare || run.waitsForOutcome
            || run.answerMeets(isError ? [.responseEnd, .responseErrors, .failures] : .responseEnd)
        if holdsAnswer { answerTrailers = takeTrailers(outOf: head) }
    }

    /// A body in JSON is held until it is whole, and so is an answer without a body.
    private func choosePlainForm(_ head: HTTPHead, isLast: Bool) {
        let isSmall = head.contentLength ?? 0 <= answerLimit
        isPlainBody = !isLast && isSmall && head.isJSON && canDecompressAnswer
        if isPlainBody { answerForm = .bare }
        holdsAnswer = isLast || isPlainBody || ownOutcome != nil && run.answerMeets(.anyEnd)
    }

    /// Whether the response tells of an error that was made here.
    private var isOwnError: Bool { ownOutcome?.isError == true }

    private var canDecompressAnswer: Bool {
        answerCompression == .identity || Compressor.supports(answerCompression)
    }

    /// Whether the trailers of the answer are in its head, for its interceptors too: in unary Connect, where nobody asks for
    /// its end.
    var hasTrailersInHead: Bool { classification.dialect.isUnaryConnect && !holdsAnswer }

    /// Whether the head of an answer has set out on its way back, and was not dropped.
    var hasAnswer: Bool { answers > droppedAnswers }

    /// The trailers of unary Connect, which are headers with a prefix.
    private func takeTrailers(outOf head: HTTPHead) -> HTTPHead {
        let trailers = worker.takeHead()
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
    func takeAnswer(_ body: Span<UInt8>) {
        switch answerForm {
        case .bytes: passBytes(body)
        case .tailed where reader.isOfMessages || reader.isWholeSuccess && !run.answerMeets(.anyEnd): passBytes(body)
        case .tailed: readTail(body)
        case .framed: readAnswer(body)
        case .bare: keepBare(body, .response)
        }
    }

    /// Nobody asks for bytes: they only wait behind what waits.
    private func passBytes(_ body: Span<UInt8>) {
        guard !lanes.response.isEmpty else { return leaveForCaller(.bytes, body) }
        pass(.bytes, body, .response, from: run.chain.links.count - 1)
    }

    /// Something that is no message comes, or may do so: from there on the body is looked at.
    private func readTail(_ body: Span<UInt8>) {
        answerForm = .framed
        answerReader = makeReader(.answer, wantsMessages: false, from: reader.start, hasEnded: reader.startsBehindEnd)
        let end = reader.messagesEnd
        if end > 0 { passBytes(body.extracting(0..<end)) }
        readAnswer(body.extracting(end..<body.count))
    }

    private func readAnswer(_ body: Span<UInt8>) {
        guard var reader = answerReader else { return }
        if let answerRest { return answerRest.bytes.append(body) }
        answerReader = nil
        let number = answers
        var position = 0
        while isOpen(.response, number), !lanes.response.isPaused, let event = reader.next(in: body, from: &position) {
            switch event {
            case .message(let flags, let place): messageCame(flags, reader.bytes(at: place, in: body), .response)
            case .pass(let place): passFramed(reader.bytes(at: place, in: body))
            case .end(let flags, let place): endFrameCame(flags, reader.bytes(at: place, in: body))
            case .fault(let error):
                mayEndAnswer = reader.lacksEnd
                answerIsFaulty(error)
            }
        }
        guard isOpen(.response, number) else { return }
        answerReader = reader
        pieceCame.answer = worker.context.loop.now
        if lanes.response.isPaused { keepRest(body.extracting(position..<body.count), .response) }
    }

    /// The frame that ends the body, which is looked at; one that cannot be decompressed goes on as it has come.
    private func endFrameCame(_ flags: UInt8, _ payload: Span<UInt8>) {
        let arrived = payload.array
        answerEndFrame = EndFrame(flags: flags, payload: arrived, content: arrived)
        guard flags & Envelope.compressed != 0 else { return }
        let plain = worker.takeQueue()
        let isSound = decompress(payload, .response, into: plain) == nil
        if isSound { reader.end(decompressed: plain.readable) }
        let content = isSound ? plain.readable.array : nil
        answerEndFrame = EndFrame(flags: flags, payload: arrived, content: content)
        worker.give(plain)
    }

    /// Messages that nobody wants to see pass with their envelopes; where they came as text they leave as text.
    private func passFramed(_ bytes: Span<UInt8>) {
        guard answerDialect == .grpcWebText else {
            return pass(.bytes, bytes, .response, from: run.chain.links.count - 1)
        }
        let text = worker.takeQueue()
        text.append(base64: bytes, padded: true)
        pass(.bytes, text.readable, .response, from: run.chain.links.count - 1)
        worker.give(text)
    }

    /// The answer has come to its proper end.
    func answerIsWhole(_ conclusion: Conclusion, trailers: HTTPHead?) {
        guard !isAnswerClosed else { return }
        guard run.looksAtAnswer || !lanes.response.isEmpty else {
            sendEnd(trailers: trailers)
            return conclude(ownOutcome ?? Outcome(conclusion))
        }
        let number = answers
        if answerForm == .bare { bareMessageCame(.response) }
        guard isOpen(.response, number) else { return }
        if answerReader?.isBetweenMessages == false || answerForm == .tailed && !reader.canEnd {
            return answerIsFaulty(RPCError(.internal, "the answer ends within a message"))
        }
        let outcome = ownOutcome ?? Outcome(conclusion)
        let asked = askedOfEnd(outcome)
        guard !lanes.response.isEmpty || holdsAnswer || run.answerMeets(asked) else {
            releaseHead()
            if let answerEndFrame { send(answerEndFrame) }
            sendEnd(trailers: trailers)
            return conclude(outcome)
        }
        pass(
            .responseEnd(
                ResponseEnd(outcome, trailers: answerTrailers(trailers), asked: asked, classification.dialect)
            ),
            .response,
            from: run.chain.links.count - 1
        )
    }

    /// What is asked for by those who are to see the end of this answer.
    private func askedOfEnd(_ outcome: Outcome) -> EventSet {
        let dialect = classification.dialect
        // Of one that has been let go, trailers behind it are all that can still be told.
        guard !isReleased else { return dialect.isUnaryConnect ? [] : .responseTrailers }
        var asked: EventSet = .responseEnd
        if outcome.code != .ok, dialect != .http || ownOutcome != nil { asked.insert(.responseErrors) }
        let hasTrailers = dialect.isUnaryConnect ? answerTrailers != nil : dialect.hasEnvelopes || !isHeadLast
        if hasTrailers { asked.insert(.responseTrailers) }
        if outcome.code != .ok { asked.insert(.failures) }
        return asked
    }

    /// The trailers as the chain sees them, wherever the dialect has them.
    private func answerTrailers(_ arrived: HTTPHead?) -> HTTPHead {
        if let answerTrailers { return answerTrailers }
        let trailers = worker.takeHead()
        if let arrived { trailers.copy(arrived) }
        if let content = answerEndFrame?.content { trailers.add(endFrame: content, of: classification.dialect) }
        trailers.notesEdits = true
        answerTrailers = trailers
        return trailers
    }

    // MARK: Failures behind the chain

    /// There will be no answer, or no more of it: those in the chain see that as the upstream's.
    func answerFailed(_ error: RPCError) {
        guard !isOver else { return }
        record.decider = .martlet
        guard hasAnswer else { return answer(with: error, before: run.chain.links.count) }
        guard answerRest == nil else {
            isForsaken = true
            forgetWaiting(.request, from: 0)
            dropRequest()
            return endAfterRest(.response) { [unowned self] in answerFailed(error) }
        }
        close(with: error, before: run.chain.links.count)
    }

    func answerIsFaulty(_ error: RPCError) {
        if error.code == .resourceExhausted { worker.counters.limitHit(.heldMessage) }
        attempt?.count(.badAnswer)
        attempt?.cancel()
        attempt = nil
        answerFailed(error)
    }

    /// Ends an answer that is under way with an error, at a place of the chain: nothing more of it comes there.
    func close(with error: RPCError, before place: Int) {
        guard !isAnswerClosed else { return }
        isAnswerClosed = true
        forgetWaiting(.request, from: 0)
        forgetWaiting(.response, from: place)
        attempt?.count(.canceled)
        attempt?.cancel()
        attempt = nil
        let trailers = answerTrailers ?? worker.takeHead()
        trailers.notesEdits = true
        answerTrailers = trailers
        let end = ResponseEnd(failing: error, trailers: trailers, classification.dialect)
        pass(.responseEnd(end), .response, from: place - 1)
    }

    // MARK: Out of the chain

    /// An event has come back through the chain.
    func leaveForCaller(_ event: ChainEvent, _ bytes: Span<UInt8>) {
        guard !isOver else { return }
        switch event {
        case .responseHead(let head, let isLast): answerHeadLeaves(head, isLast: isLast)
        case .message(let message): write(message, bytes, .response) { sendCaller($0) }
        case .bytes: sendCaller(bytes)
        case .responseEnd(let end): answerEndLeaves(end)
        case .requestHead, .requestEnd: break
        }
    }

    private func answerHeadLeaves(_ head: HTTPHead, isLast: Bool) {
        if holdsAnswer {
            heldHead = head
        } else if !isLast, waitsForMore {
            hold(head)
        } else {
            sendHead(head, end: isLast)
        }
    }

    private func sendEnd(trailers: HTTPHead?) {
        releaseHead()
        if !isHeadLast { caller.sendEnd(trailers: trailers) }
    }

    func sendHead(_ head: HTTPHead, end: Bool) {
        record.status = head.status
        headSent = true
        if keepsRequest { giveReplay() }
        caller.send(head: head, end: end)
        worker.give(head)
    }

    func sendBody(_ bytes: Span<UInt8>) {
        record.responseBytes += bytes.count
        caller.send(body: bytes)
    }

    private func sendCaller(_ bytes: Span<UInt8>) {
        releaseHead()
        guard heldHead != nil else { return sendBody(bytes) }
        let body = heldBody ?? worker.takeQueue()
        heldBody = body
        pieceCame.answer = worker.context.loop.now
        body.append(bytes)
        // An error so large is let through as it is, with what follows.
        if answerForm == .bytes, body.count > answerLimit { releaseAnswer() }
    }

    /// Lets go what is held of an answer.
    private func releaseAnswer() {
        guard let head = heldHead else { return }
        heldHead = nil
        holdsHead = false
        holdsAnswer = false
        // Nobody is asked about its end any more: that could not be told.
        isReleased = true
        if classification.dialect.isUnaryConnect, let answerTrailers {
            passFields(of: head, trailers: answerTrailers)
            putBackTrailers(answerTrailers, into: head)
        } else {
            passFields(of: head, trailers: nil)
        }
        sendHead(head, end: false)
        guard let body = heldBody else { return }
        heldBody = nil
        sendBody(body.readable)
        worker.give(body)
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
