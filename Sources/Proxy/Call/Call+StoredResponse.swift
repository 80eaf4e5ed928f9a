internal import Bytes
internal import Events
public import HTTP
internal import Protocols
internal import Telemetry

/// Responses that are in memory as a whole, and go out as the caller takes them.
extension Call {
    /// What is left of such a response.
    struct Rest {
        let bytes: [UInt8]
        var range: Range<Int>
        let trailers: HTTPHead?
        let outcome: Outcome
        /// Whether a piece is on its way.
        var isSending = false
    }

    /// An empty head, for a `StoredResponse`.
    public func makeHead() -> HTTPHead { worker.acquireHead() }

    /// Sends a response that was kept, which goes back through the links before `index`.
    func send(_ stored: consuming StoredResponse, _ outcome: Outcome, before index: Int) {
        endAttempts(.canceled)
        releaseHeld(.request, from: 0)
        releaseBare(.request)
        releaseHeld(.response, from: index)
        // What has held the source back belongs to the response that is dropped.
        flows.response.queues.isPaused = false
        releaseResponse()
        response.ownOutcome = outcome
        run.respond(before: index)
        addProxyStatus(to: stored.head, outcome)
        response.reader = callerLeg.makeReader()
        response.reader.read(stored.head, rpcProtocol)
        let hasBody = !callerLeg.wantsHeadOnly && (!stored.range.isEmpty || stored.trailers != nil)
        let (head, bytes, range, trailers) = (stored.head, stored.bytes, stored.range, stored.trailers)
        // Set before the head goes: an empty body ends here, and what replaces the response drops it.
        response.rest = hasBody ? Rest(bytes: bytes, range: range, trailers: trailers, outcome: outcome) : nil
        if !hasBody, let trailers { worker.release(trailers) }
        guard receiveResponse(head, isLast: !hasBody) else { return }
        if hasBody { sendRest() } else { responseIsWhole(.code(outcome.code), trailers: nil) }
    }

    /// Sends as much of the rest as the caller takes, and the end behind it.
    func sendRest() {
        guard response.rest?.isSending == false else { return }
        let number = response.number
        response.rest?.isSending = true
        while !isOver, response.number == number, let rest = response.rest, !rest.range.isEmpty, takesRest {
            let end = min(rest.range.lowerBound + Self.highWater, rest.range.upperBound)
            response.rest?.range = end..<rest.range.upperBound
            receiveResponse(rest.bytes.span.extracting(rest.range.lowerBound..<end))
        }
        guard !isOver, response.number == number else { return }
        response.rest?.isSending = false
        guard let rest = response.rest, rest.range.isEmpty else { return }
        response.rest = nil
        responseIsWhole(.code(rest.outcome.code), trailers: rest.trailers)
        if let trailers = rest.trailers { worker.release(trailers) }
    }

    /// Whether the caller, and the chain, take more of a response.
    private var takesRest: Bool {
        callerLeg.stream.queuedBytes <= Self.highWater && !callerLeg.stream.isCrowded
            && !flows.response.queues.isPaused
    }

    /// More of the response is wanted again, wherever it comes from.
    func resumeResponse(_ reason: PauseReason) {
        resumption?.waitsSince = worker.context.loop.now
        if response.rest != nil { sendRest() } else { upstreamLeg.attempt?.resume(reason) }
    }
}
