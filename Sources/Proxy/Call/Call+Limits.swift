internal import Bytes
internal import HTTP
internal import Protocols
public import RPC
internal import Telemetry

/// The messages of a call, where somebody wants to know of them: how many there are, and that none is too large.
extension Call {
    /// Begins to measure the request, if anybody wants that.
    func measureRequest() {
        let limit = callerLeg.listener.requestMessageLimit
        // A bare message needs no measuring to be counted: it is one, when it has come whole.
        let isCounted = run.chain.countsMessages && rpcProtocol.hasEnvelopes
        guard limit != nil || isCounted, rpcProtocol != .http else { return }
        meter = makeMeter()
    }

    private func makeMeter() -> MessageMeter {
        var meter = MessageMeter(rpcProtocol, .request, limit: callerLeg.listener.requestMessageLimit)
        let received = received
        let announced = rpcProtocol == .connectGet ? ConnectQuery(received.query)?.messageSize : nil
        if let length = announced ?? received.contentLength { meter.announce(length) }
        if flows.request.hasArrived { meter.end() }
        return meter
    }

    /// Measures the request while its head waits: who responds to it later may take one message.
    func measureWaitingRequest() {
        guard meter == nil, !upstreamLeg.isRetried else { return }
        meter = makeMeter()
    }

    /// Whether no message is too large; one that is has ended the call.
    func isWithinLimit() -> Bool {
        guard meter?.isOverLimit == true, let error = meter?.overLimitError else { return true }
        worker.counters.limitHit(.requestMessage)
        fail(error, by: .martlet)
        return false
    }

    /// Sees a piece of the request's body; false if a message is too large, which has ended the call.
    func measure(_ body: Span<UInt8>) -> Bool {
        // Asked in its place: a copy would cost as much as the measuring.
        guard meter?.add(body) == false else { return true }
        guard meter?.isUnreadable != true else {
            fail(RPCError(.invalidArgument, "the body of the request is not valid base64"), by: .martlet)
            return false
        }
        return isWithinLimit()
    }

    /// A message of the response is too large, and nothing of it has gone out.
    func responseIsOverLimit() {
        worker.counters.limitHit(.responseMessage)
        endAttempts(.badResponse)
        responseFailed(response.reader.overLimitError)
    }

    /// The last piece of the response announces a message that is too large: what comes before it still goes to the caller.
    ///
    /// - Parameters:
    ///   - body: the piece.
    ///   - stoodBetween: whether what has gone out before stands between two messages.
    func endBeforeTooLarge(_ body: Span<UInt8>, _ stoodBetween: Bool) {
        let complete = response.reader.complete
        if complete > 0 { receiveResponse(body.extracting(0..<complete)) }
        response.mayEnd = complete > 0 || stoodBetween
        responseIsOverLimit()
    }

    /// What is wrong with the head of a request that is answered here with a message.
    public var errorAsRPC: RPCError? {
        let received = received
        // What says nothing of its content may be a browser, or somebody who tries things out.
        let isPlain = received.first(.contentType) == nil && rpcProtocol == .http
        let method = received.method
        if isPlain, method.equals("GET") || method.equals("HEAD") || method.equals("POST") { return nil }
        return callerLeg.classification.error(
            compression: received.compression(rpcProtocol),
            query: received.query
        )
    }

    /// Responds to one message with one, once it is known that there is one.
    func respondWhenWhole(_ own: LocalResponse, _ index: Int) {
        if meter == nil {
            meter = MessageMeter(rpcProtocol, .request, limit: callerLeg.listener.requestMessageLimit)
        }
        guard flows.request.hasArrived else {
            response.pending = (own, index)
            return askForBody()
        }
        meter?.end()
        respondToWhole(own, index)
    }

    /// The request has come whole.
    func respondToWhole(_ own: LocalResponse, _ index: Int) {
        response.pending = nil
        let compression = received.compression(rpcProtocol)
        if let error = meter?.errorOfOneMessage(compression: compression) {
            return rejected(error, at: index, .requestHead, .request)
        }
        respond(own, index)
    }

    /// How many messages the call had.
    var messageCounts: MessageCounts {
        let bare = rpcProtocol.isUnaryConnect && flows.request.hasArrived ? 1 : response.ownMessages
        return MessageCounts(received: meter?.messages ?? bare, sent: response.reader.messages + response.ownMessages)
    }
}
