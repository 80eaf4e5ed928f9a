internal import Dialects
internal import HTTP
internal import RPC
internal import Telemetry

/// The messages of a call, where somebody wants to know of them: how many there are, and that none is too large.
extension Call {
    /// Begins to measure the request, if anybody wants that.
    ///
    /// - Returns: whether the call goes on; a message that is announced too large ends it.
    func measureFromStart() -> Bool {
        let limit = listener.requestMessageLimit
        guard limit != nil || run.chain.countsMessages, classification.dialect != .http else { return true }
        var meter = MessageMeter(classification.dialect, .request, limit: limit)
        if let length = request.contentLength { meter.announce(length) }
        if requestEnded { meter.end() }
        self.meter = meter
        return checkLimit()
    }

    /// Sees a piece of the request's body; false if a message is too large, which has ended the call.
    func measure(_ body: Span<UInt8>) -> Bool {
        meter?.add(body)
        return checkLimit()
    }

    private func checkLimit() -> Bool {
        guard let meter, meter.isOverLimit else { return true }
        worker.counters.limitHit(.requestMessage)
        fail(meter.overLimitError, by: .martlet)
        return false
    }

    /// A message of the answer is too large, and nothing of it has gone out.
    func answerIsOverLimit() {
        worker.counters.limitHit(.responseMessage)
        attempt?.count(.badAnswer)
        fail(reader.overLimitError, by: .martlet)
    }

    /// The last piece of the answer announces a message that is too large: what comes before it still goes to the caller.
    ///
    /// - Parameters:
    ///   - body: the piece.
    ///   - stoodBetween: whether what has gone out before stands between two messages.
    func endBeforeTooLarge(_ body: Span<UInt8>, _ stoodBetween: Bool) {
        let complete = reader.complete
        if complete > 0 { caller.send(body: body.extracting(0..<complete)) }
        mayEndAnswer = complete > 0 || stoodBetween
        answerIsOverLimit()
    }

    /// How many messages the call had.
    var messageCounts: MessageCounts {
        MessageCounts(received: meter?.messages ?? 0, sent: reader.messages + ownMessages)
    }
}
