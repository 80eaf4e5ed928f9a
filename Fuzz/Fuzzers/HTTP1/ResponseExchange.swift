internal import Bytes
internal import Time

@testable internal import HTTP

/// Reads the response to one request with a session of ours.
final class ResponseExchange: HTTPClientOwner, HTTPStreamUser {
    private(set) var reading = HTTP1Reading()
    private var body: [UInt8] = []
    private var hasEnded = false

    /// The response in `input`, and the interim ones before it; behind the input the connection ends.
    static func read(_ input: Span<UInt8>, to method: StaticString, _ cuts: Cuts) -> HTTP1Reading {
        let exchange = ResponseExchange()
        let session = HTTP1ClientSession(
            owner: exchange,
            output: ByteQueue(),
            heads: HTTPHeadPool(),
            limits: HTTPLimits()
        )
        let request = HTTPHead()
        request.setMethod(Array(method.description.utf8).span)
        request.setTarget([UInt8(ascii: "/")].span)
        request.setAuthority([UInt8(ascii: "a")].span)
        session.open(for: exchange).send(head: request, end: true)
        cuts.feed(input) { session.receive($0) }
        session.receiveEnd(errno: nil)
        if !exchange.reading.messages.isEmpty { exchange.last.body = String(latin1: exchange.body) }
        return exchange.reading
    }

    private var last: HTTP1Message {
        get { reading.messages[reading.messages.count - 1] }
        set { reading.messages[reading.messages.count - 1] = newValue }
    }

    private func add(_ head: HTTPHead) {
        demand(reading.messages.allSatisfy { $0.status < 200 }, "nothing follows the response")
        var message = HTTP1Message()
        message.status = head.status
        message.reason = String(latin1: head.reason.array)
        message.fields = head.list
        message.length = head.contentLength
        reading.messages.append(message)
    }

    // MARK: HTTPStreamUser

    func received(informational head: HTTPHead) {
        add(head)
        last.isWhole = true
    }

    func received(head: HTTPHead, end: Bool) {
        add(head)
        last.isWhole = end
    }

    func received(body bytes: Span<UInt8>) {
        demand(bytes.count > 0 && !last.isWhole, "a body has bytes, and its message is not over")
        body += bytes.array
    }

    func receivedEnd(trailers: HTTPHead?) {
        last.trailers = trailers?.list ?? []
        last.isWhole = true
    }

    func wasReset(_ reason: HTTPReset) {
        reading.isRejected = true
    }

    func drained() {}

    // MARK: HTTPClientOwner

    func sessionHasRoom() {
        if !reading.messages.isEmpty { last.persists = true }
    }

    func sessionEnded(_ end: SessionEnd) {
        demand(!hasEnded, "a session ends once")
        hasEnded = true
    }

    func sessionHasOutput() {}
    func sessionSends(_ body: Span<UInt8>) {}
    func sessionNeedsInput() {}
    func sessionYields() {}
    var hasRunLong: Bool { false }
    var lastWritten: Instant { .max }
    func sessionExceeded(_ limit: HTTP2Limit) {}
    func sessionSpentResets() {}
    var now: Instant { .start + .second }
}
