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
        if direction == .request { requestRest = BodyRest(bytes: queue) } else { responseRest = BodyRest(bytes: queue) }
    }

    /// Puts the end behind what is not looked at yet.
    func endAfterRest(_ direction: Direction, _ end: @escaping () -> Void) {
        if direction == .request { requestRest?.end = end } else { responseRest?.end = end }
    }

    /// Looks at what was kept, now that less waits.
    func readRest(_ direction: Direction) {
        guard let rest = direction == .request ? requestRest : responseRest else { return }
        let number = responses
        if direction == .request {
            requestRest = nil
            receiveRequest(rest.bytes.readable)
        } else {
            responseRest = nil
            receiveResponse(rest.bytes.readable)
        }
        worker.release(rest.bytes)
        guard isOpen(direction, number), let end = rest.end else { return }
        if (direction == .request ? requestRest : responseRest) == nil { end() } else { endAfterRest(direction, end) }
    }

    /// Nobody will look at what was kept.
    func releaseRest(_ direction: Direction) {
        if let rest = direction == .request ? requestRest.take() : responseRest.take() { worker.release(rest.bytes) }
    }
}
