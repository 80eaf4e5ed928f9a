internal import Bytes
internal import Events
internal import HTTP
internal import Protocols
internal import RPC
internal import Telemetry
internal import Time

/// The way of a request behind its head: what arrives from the caller, through the chain, to the upstream.
extension Call {
    // MARK: Into the chain

    /// Bytes of the body have come.
    func receiveRequest(_ body: Span<UInt8>) {
        switch flows.request.form ?? chooseRequestForm() {
        case .bytes where flows.request.queues.isEmpty: bytesLeave(body)
        case .bytes, .tailed: pass(.bytes, body, .request, from: 0)
        case .framed: readRequest(body)
        case .bare, .plain: keepBare(body, .request)
        }
    }

    /// How the body is looked at: by messages, if somebody on the way asks for them.
    private func chooseRequestForm() -> BodyForm {
        // As long as the head is under way, it is not known yet whom it will come to.
        let needsMessages =
            hasHeadLeft ? run.requestMeets(.requestMessages) : run.chain.mask(.requestMessages) != 0
        let form = BodyForm(needsMessages, rpcProtocol)
        if form == .framed { flows.request.reader = makeReader(.request, needsMessages: true) }
        flows.request.form = form
        return form
    }

    private func readRequest(_ body: Span<UInt8>) {
        // Not in the call's hands while hooks run, which may end the call.
        guard var reader = flows.request.reader else { return }
        if let rest = flows.request.rest { return rest.bytes.append(body) }
        flows.request.reader = nil
        var position = 0
        if worker.turns.isSpent { yieldSource(of: .request) }
        while acceptsRequest, !flows.request.queues.isPaused, let event = reader.next(in: body, from: &position) {
            switch event {
            case .message(let flags, let location): messageCame(flags, reader.bytes(at: location, in: body), .request)
            case .pass, .end: break
            case .error(let error): failRequest(error)
            }
            if worker.turns.isSpent { yieldSource(of: .request) }
        }
        guard acceptsRequest else {
            upstreamLeg.retryBuffer.skipReason = .incomplete
            return
        }
        flows.request.reader = reader
        flows.request.pieceCame = worker.context.loop.now
        if flows.request.queues.isPaused { keepRest(body.extracting(position..<body.count), .request) }
    }

    func failRequest(_ error: RPCError) {
        if error.code == .resourceExhausted { worker.counters.limitHit(.heldMessage) }
        fail(error, by: .martlet)
    }

    /// The request has come whole.
    func requestIsWhole(trailers: HTTPHead?) {
        if let trailers {
            let kept = worker.acquireHead()
            kept.copy(trailers)
            flows.request.trailers = kept
        }
        guard flows.request.rest == nil else {
            return endAfterRest(.request) { [unowned self] in requestIsWhole(trailers: nil) }
        }
        let form = flows.request.form ?? chooseRequestForm()
        if form == .bare {
            if worker.turns.isSpent {
                yieldWhole(.request)
                return endAfterRest(.request) { [unowned self] in requestIsWhole(trailers: nil) }
            }
            bareMessageCame(.request)
        }
        guard acceptsRequest else { return }
        if flows.request.reader?.isBetweenMessages == false {
            return failRequest(RPCError(.invalidArgument, "the request ends in the middle of a message"))
        }
        if flows.request.queues.isEmpty, !run.requestMeets(.requestEnd), hasHeadLeft {
            requestEndLeaves()
        } else {
            pass(.requestEnd, .request, from: 0)
        }
    }

    // MARK: Out of the chain

    /// An event has come through the chain.
    func leaveForUpstream(_ event: ChainEvent, _ bytes: Span<UInt8>) {
        guard acceptsRequest else { return }
        switch event {
        case .requestHead: requestHeadLeaves()
        case .message(let message): requestMessageLeaves(message, bytes)
        case .bytes: bytesLeave(bytes)
        case .requestEnd: requestEndLeaves()
        case .responseHead, .responseEnd: break
        }
    }

    private func requestHeadLeaves() {
        guard !upstreamLeg.isRetried else { return startAttempt() }
        upstreamLeg.progress = .waiting
        guard callerLeg.rest?.error == nil else { return forward() }
        let isHeld = waitsForWhole
        // The body of a REST path is held whatever becomes of its head.
        if isHeld || callerLeg.rest != nil { askForBody() }
        // What says how long the body is, or that there is none, waits until that is known.
        if !isHeld { forward() }
    }

    /// Sends `100 Continue` to a caller that waits for it, because Martlet holds the request until its body comes.
    ///
    /// The upstream is not asked for it any more (RFC 9110 §10.1.1). Later calls do nothing.
    func askForBody() {
        let request = request
        guard request.expectsContinue else { return }
        request.expectsContinue = false
        guard !flows.request.hasArrived, record.requestBytes == 0 else { return }
        let head = worker.acquireHead()
        head.status = 100
        send(informational: head)
        worker.release(head)
    }

    /// Whether the head goes out only with all that follows it.
    private var waitsForWhole: Bool {
        guard !upstreamLeg.hasEnd else { return false }
        return likelyRequestForm == .bare || flows.request.hasArrived && record.requestBytes == 0
    }

    private var hasHeadLeft: Bool { upstreamLeg.progress >= .waiting }

    /// How the body is looked at, or will be.
    var likelyRequestForm: BodyForm {
        flows.request.form ?? BodyForm(run.requestMeets(.requestMessages), rpcProtocol)
    }

    private func bytesLeave(_ bytes: Span<UInt8>) {
        if run.chain.byteObservers != 0 { show(bytes, .request) }
        sendUpstream(bytes)
    }

    private func requestMessageLeaves(_ message: Message, _ bytes: Span<UInt8>) {
        if let redactedBody, message.isChanged { message.withPayload(or: bytes) { redactedBody.add(made: $0) } }
        guard flows.request.form == .bare else {
            return write(message, bytes, .request) { sendUpstream($0) }
        }
        let body = worker.acquireQueue()
        write(message, bytes, .request) { body.append($0) }
        if upstreamLeg.isQuery {
            if message.isChanged { upstreamLeg.query = body } else { worker.release(body) }
        } else {
            request.contentLength = body.count
            if body.isEmpty { worker.release(body) } else { upstreamLeg.outbox = body }
        }
    }

    /// Gives a Connect GET another message.
    func setQuery(message: Span<UInt8>) {
        let request = request
        let target = worker.acquireQueue()
        target.append(request.path)
        target.append("?")
        target.append(connectQuery: request.query, message: message, compression: compressionUpstream)
        request.setTarget(target.readable)
        worker.release(target)
    }

    private func requestEndLeaves() {
        upstreamLeg.hasEnd = true
        guard upstreamLeg.isForwarded else { return forward() }
        if let attempt = upstreamLeg.attempt, attempt.isConnected, !upstreamLeg.isSendingSpool {
            attempt.sendEnd(trailers: flows.request.trailers)
        }
        awaitHedge()
    }

    /// Sends bytes of the body, or keeps them until there is a connection.
    func sendUpstream(_ bytes: Span<UInt8>) {
        guard let attempt = upstreamLeg.attempt, attempt.isConnected, !upstreamLeg.isSendingSpool else {
            guard acceptsRequest, bytes.count > 0 else { return }
            let queue = upstreamLeg.outbox ?? worker.acquireQueue()
            upstreamLeg.outbox = queue
            queue.append(bytes)
            return limitHedge(queue.count)
        }
        keepForRetry(bytes, by: attempt)
        if attempt.send(body: bytes) { callerLeg.stream.pause(.slowPeer) }
    }
}
