internal import Bytes
internal import HTTP
internal import Protocols

/// What has come of a body and is not looked at yet, since as much as may waits in the chain already.
struct BodyRest {
    let bytes: ByteQueue
    /// What comes behind it: the end.
    var end: (() -> Void)?
}

extension Call {
    /// Keeps what is left of a piece of a body.
    func keepRest(_ bytes: Span<UInt8>, _ direction: Direction) {
        let queue = worker.acquireQueue()
        queue.append(bytes)
        flows[direction].rest = BodyRest(bytes: queue)
    }

    /// Puts the end behind what is not looked at yet.
    func endAfterRest(_ direction: Direction, _ end: @escaping () -> Void) {
        flows[direction].rest?.end = end
    }

    /// Looks at what was kept, now that less waits.
    func readRest(_ direction: Direction) {
        guard let rest = flows[direction].rest.take() else { return }
        let number = response.number
        if !rest.bytes.isEmpty {
            switch direction {
            case .request: receiveRequest(rest.bytes.readable)
            case .response: receiveResponse(rest.bytes.readable)
            }
        }
        worker.release(rest.bytes)
        guard isOpen(direction, number), let end = rest.end else { return }
        if flows[direction].rest == nil { end() } else { endAfterRest(direction, end) }
    }

    /// Lets other calls have their turn before the next message is read.
    func yieldSource(of direction: Direction) {
        guard !flows[direction].queues.isPaused else { return }
        pauseSource(of: direction)
        worker.turns.wait { [self] in resumeSource(of: direction) }
    }

    /// Reads the bare message of a response, which is whole.
    ///
    /// - Returns: Whether the turn has time for that; if not, `responseIsWhole` is called again in another turn.
    func readWhole(_ conclusion: Conclusion, _ trailers: HTTPHead?) -> Bool {
        guard worker.turns.isSpent else {
            bareMessageCame(.response)
            return true
        }
        var kept: HTTPHead?
        if let trailers {
            kept = HTTPHead()
            kept?.copy(trailers)
        }
        yieldWhole(.response)
        endAfterRest(.response) { [unowned self] in responseIsWhole(conclusion, trailers: kept) }
        return false
    }

    /// Lets other calls have their turn before a bare message is read, which is whole; its end is to be put behind the rest.
    func yieldWhole(_ direction: Direction) {
        keepRest(Span(), direction)
        worker.turns.wait { [self] in readRest(direction) }
    }

    /// Nobody will see the message that was being put together.
    func releaseBare(_ direction: Direction) {
        if let queue = flows[direction].bare.take() { worker.release(queue) }
    }

    /// Nobody will look at what was kept.
    func releaseRest(_ direction: Direction) {
        if let rest = flows[direction].rest.take() { worker.release(rest.bytes) }
    }
}
