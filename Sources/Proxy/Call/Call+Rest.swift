internal import Bytes
internal import HTTP

/// What has come of a body and is not looked at yet, since as much as may waits in the chain already.
struct BodyRest {
    let bytes: ByteQueue
    /// What comes behind it: the end.
    var end: (() -> Void)?
}

extension Call {
    /// Keeps what is left of a piece of a body.
    func keepRest(_ bytes: Span<UInt8>, _ way: Way) {
        let queue = worker.takeQueue()
        queue.append(bytes)
        if way == .request { requestRest = BodyRest(bytes: queue) } else { responseRest = BodyRest(bytes: queue) }
    }

    /// Puts the end behind what is not looked at yet.
    func endAfterRest(_ way: Way, _ end: @escaping () -> Void) {
        if way == .request { requestRest?.end = end } else { responseRest?.end = end }
    }

    /// Looks at what was kept, now that less waits.
    func takeRest(_ way: Way) {
        guard let rest = way == .request ? requestRest : responseRest else { return }
        let number = responses
        if way == .request {
            requestRest = nil
            takeRequest(rest.bytes.readable)
        } else {
            responseRest = nil
            takeResponse(rest.bytes.readable)
        }
        worker.give(rest.bytes)
        guard isOpen(way, number), let end = rest.end else { return }
        if (way == .request ? requestRest : responseRest) == nil { end() } else { endAfterRest(way, end) }
    }

    /// Nobody will look at what was kept.
    func forgetRest(_ way: Way) {
        if let rest = way == .request ? requestRest.take() : responseRest.take() { worker.give(rest.bytes) }
    }
}
