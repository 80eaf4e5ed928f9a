internal import Bytes
internal import HTTP
internal import Time

/// A stream to an upstream that keeps a copy of what is sent on it, so that people can repeat it.
///
/// It stands next to the connection: what it sees is what the upstream gets, whatever the caller speaks.
final class SentCopy: HTTPStream {
    private let stream: any HTTPStream
    /// Empty until it has been sent.
    let head = HTTPHead()
    private(set) var body = MessageFinder.Found()
    private(set) var trailers: HTTPHead?
    let address: SocketAddress
    private(set) var hasBody = false
    /// Whether the end has been sent, so that nothing is missing.
    private(set) var hasEnded = false
    private let budget: CopyBudget
    private unowned let call: Call

    init(_ stream: any HTTPStream, to address: SocketAddress, of call: Call, _ budget: CopyBudget) {
        (self.stream, self.address, self.call, self.budget) = (stream, address, call, budget)
    }

    deinit { budget.add(-body.bytes.count) }

    func send(head: HTTPHead, end: Bool) {
        self.head.copy(head)
        (hasBody, hasEnded) = (!end, end)
        call.tap?.sent = self
        stream.send(head: head, end: end)
    }

    func send(body: Span<UInt8>) {
        let before = self.body.bytes.count
        self.body.add(body, max: budget.room(RequestCopy.maxBody))
        budget.add(self.body.bytes.count - before)
        stream.send(body: body)
    }

    func sendEnd(trailers: HTTPHead?) {
        hasEnded = true
        if let trailers {
            let copy = HTTPHead()
            copy.copy(trailers)
            self.trailers = copy
        }
        stream.sendEnd(trailers: trailers)
    }

    var version: HTTPVersion { stream.version }
    func send(informational head: HTTPHead) { stream.send(informational: head) }
    func reset(_ reason: HTTPReset) { stream.reset(reason) }
    func pause(_ reason: PauseReason) { stream.pause(reason) }
    func resume(_ reason: PauseReason) { stream.resume(reason) }
    var queuedBytes: Int { stream.queuedBytes }
    var isCrowded: Bool { stream.isCrowded }
    var heldBytes: Int { stream.heldBytes }
    var waitsSince: Instant { stream.waitsSince }
}

extension UpstreamConnection {
    /// Begins an exchange of a call for `user`; what is sent on it is copied if somebody sees the call.
    func open(for user: any HTTPStreamUser, of call: Call) -> (any HTTPStream)? {
        guard let stream = open(for: user) else { return nil }
        guard let tap = call.tap else { return stream }
        return SentCopy(stream, to: address, of: call, tap.budget)
    }
}
