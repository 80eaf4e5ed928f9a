internal import Events
internal import HTTP
internal import Protocols
public import Time

/// Calls that nobody waits for: an interceptor sends the request of a call again, as it stands there.
extension Call {
    /// Begins a call with this request, without a body, at an interceptor of the chain, and throws its response away once
    /// that has passed the interceptor.
    ///
    /// Those before the interceptor do not see it.
    ///
    /// - Parameters:
    ///   - link: the interceptor, whose `requestHead` is called.
    ///   - state: what that finds kept for the call.
    ///   - limit: how long the call takes at most.
    /// - Returns: whether it has begun, and the interceptor has seen it.
    public func beginInBackground<Link: Interceptor>(at link: Link, keeping state: Link.CallState, limit: Duration)
        -> Bool
    {
        guard !worker.context.memory.isExhausted else { return false }
        let head = worker.acquireHead()
        head.copy(received)
        let stream = BackgroundStream(callerLeg.stream.version, on: worker)
        let call = Call(stream, head: head, end: true, from: peer, on: callerLeg.listener)
        stream.call = call
        call.limitTime(to: limit)
        return call.start(like: self, at: run.index(of: link)) { call[stateOf: link] = state }
    }

    private func start(like other: Call, at index: Int, _ prepare: () -> Void) -> Bool {
        request.copy(other.request)
        (routeNumber, route) = (other.routeNumber, other.route)
        run = ChainRun(route.chain)
        isRouted = true
        prepare()
        request.notesEdits = true
        upstreamLeg.hasEnd = true
        pass(.requestHead, .request, from: index)
        return run.hasEntered(index)
    }
}

/// Stands in the place of a caller: takes everything, and keeps the call until it has ended.
private final class BackgroundStream: HTTPStream, EndOfTurn {
    let version: HTTPVersion
    private let worker: Worker
    var call: Call?

    init(_ version: HTTPVersion, on worker: Worker) {
        (self.version, self.worker) = (version, worker)
    }

    func send(informational head: HTTPHead) {}
    func send(head: HTTPHead, end: Bool) { if end { finish() } }
    func send(body: Span<UInt8>) {}
    func sendEnd(trailers: HTTPHead?) { finish() }
    func reset(_ reason: HTTPReset) { finish() }
    func pause(_ reason: PauseReason) {}
    func resume(_ reason: PauseReason) {}
    var queuedBytes: Int { 0 }
    var isCrowded: Bool { false }
    var heldBytes: Int { 0 }
    var waitsSince: Instant { .max }

    /// The call is still at work: it is let go when the turn is over.
    private func finish() { worker.atEndOfTurn(self) }

    func endOfTurn() { call = nil }
}
