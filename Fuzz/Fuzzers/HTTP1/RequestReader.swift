internal import Bytes
internal import Time

@testable internal import HTTP

/// Reads requests with a session of ours, which responds to each of them with 200 as soon as it is whole.
final class RequestReader: HTTPServerOwner, HTTPStreamUser {
    private(set) var reading = HTTP1Reading()
    private let output = ByteQueue()
    private var stream: (any HTTPStream)?
    private var body: [UInt8] = []
    private var hasEnded = false

    /// Everything that is read of `input`.
    static func read(_ input: Span<UInt8>, _ cuts: Cuts) -> HTTP1Reading {
        let reader = RequestReader()
        let session = HTTP1ServerSession(
            owner: reader,
            output: reader.output,
            heads: HTTPHeadPool(),
            limits: HTTPLimits()
        )
        cuts.feed(input) { piece in
            let taken = session.receive(piece)
            reader.output.removeAll()
            session.outputDrained()
            return taken + (taken < piece.count ? session.receive(piece.extracting(taken...)) : 0)
        }
        reader.keepBody()
        reader.stream = nil
        session.receiveEnd(errno: nil)
        return reader.reading
    }

    private var last: HTTP1Message {
        get { reading.messages[reading.messages.count - 1] }
        set { reading.messages[reading.messages.count - 1] = newValue }
    }

    private func keepBody() {
        if !reading.messages.isEmpty { last.body = String(latin1: body) }
    }

    // MARK: HTTPServerOwner

    func sessionOpened(_ stream: any HTTPStream, head: HTTPHead, end: Bool) -> any HTTPStreamUser {
        demand(!hasEnded, "no request begins behind the end of the connection")
        keepBody()
        body = []
        var message = HTTP1Message()
        message.method = String(latin1: head.method.array)
        message.target = String(latin1: head.target.array)
        message.authority = String(latin1: head.authority.array)
        message.fields = head.list
        message.length = head.contentLength
        reading.messages.append(message)
        self.stream = stream
        // Who waits for it is told to go on, so that the connection can be used again.
        if head.expectsContinue {
            let interim = HTTPHead()
            interim.status = 100
            stream.send(informational: interim)
        }
        if end { respond() }
        return self
    }

    func sessionRejected(_ stream: any HTTPStream, _ error: HTTPError, head: HTTPHead?) {
        reading.isRejected = true
        let response = HTTPHead()
        response.status = error.status
        stream.send(head: response, end: true)
    }

    func sessionBecameIdle() {
        last.persists = true
    }

    func sessionEnded(_ end: SessionEnd) {
        demand(!hasEnded, "a session ends once")
        hasEnded = true
    }

    func sessionDiscards() {}
    func sessionHasOutput() {}
    func sessionSends(_ body: Span<UInt8>) {}
    func sessionNeedsInput() {}
    func sessionYields() {}
    var hasRunLong: Bool { false }
    var lastWritten: Instant { .max }
    func sessionExceeded(_ limit: HTTP2Limit) {}
    var now: Instant { .start + .second }

    // MARK: HTTPStreamUser

    func received(informational head: HTTPHead) { fail("a request has no interim head") }
    func received(head: HTTPHead, end: Bool) { fail("a request has no second head") }

    func received(body bytes: Span<UInt8>) {
        demand(bytes.count > 0, "pieces of a body have bytes")
        body += bytes.array
    }

    func receivedEnd(trailers: HTTPHead?) {
        last.trailers = trailers?.list ?? []
        respond()
    }

    func wasReset(_ reason: HTTPReset) {
        if case .error = reason { reading.isRejected = true }
    }

    func drained() {}

    private func respond() {
        last.isWhole = true
        let head = HTTPHead()
        head.status = 200
        stream?.send(head: head, end: true)
    }
}

extension HTTPHead {
    /// The fields, in their order.
    var list: [HTTP1Message.Field] {
        (0..<count).map {
            HTTP1Message.Field(name: String(latin1: name(at: $0).array), value: String(latin1: value(at: $0).array))
        }
    }
}
