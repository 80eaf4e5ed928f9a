internal import Bytes

@testable internal import HTTP

/// The user of one stream, who notes what is told, and that nothing is told that must not be.
final class StreamLog: HTTPStreamUser {
    private(set) var heads: [[HTTP1Message.Field]] = []
    private(set) var body: [UInt8] = []
    private(set) var trailers: [HTTP1Message.Field] = []
    private(set) var isWhole = false
    private(set) var isReset = false
    var stream: (any HTTPStream)?
    /// Whether it sends a response when the request is whole.
    let responds: Bool

    init(_ stream: (any HTTPStream)?, responds: Bool) {
        self.stream = stream
        self.responds = responds
    }

    /// What was told, as far as it does not depend on when it came.
    var reported: String { "\(heads) \(String(latin1: body)) \(trailers) \(isWhole)" }

    func received(informational head: HTTPHead) {
        check()
        heads.append(head.list)
    }

    func received(head: HTTPHead, end: Bool) {
        check()
        heads.append(head.list)
        if end { finish() }
    }

    func received(body bytes: Span<UInt8>) {
        check()
        demand(bytes.count > 0, "pieces of a body have bytes")
        body += bytes.array
    }

    func receivedEnd(trailers: HTTPHead?) {
        check()
        self.trailers = trailers?.list ?? []
        finish()
    }

    func wasReset(_ reason: HTTPReset) {
        demand(!isReset, "a stream is reset once")
        isReset = true
        stream = nil
    }

    func drained() {}

    /// Notes the head that opened the stream.
    func opened(_ head: HTTPHead, end: Bool) {
        let line = [head.method.array, head.target.array, head.authority.array]
        heads.append(line.map { HTTP1Message.Field(name: "", value: String(latin1: $0)) } + head.list)
        if end { finish() }
    }

    private func check() {
        demand(!isWhole && !isReset, "nothing is told behind the end of a stream")
    }

    private func finish() {
        isWhole = true
        guard responds, let stream else { return }
        let head = HTTPHead()
        head.status = 200
        stream.send(head: head, end: false)
        let body = body
        stream.send(body: body.span)
        stream.sendEnd(trailers: nil)
    }
}
