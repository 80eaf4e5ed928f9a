internal import Bytes
internal import HTTP
internal import Proxy

/// One request to the admin socket; its body is read away.
final class AdminExchange: HTTPStreamUser {
    private let stream: any HTTPStream
    private let heads: HTTPHeadPool
    private let streams: AdminStreams
    /// Whether only the head of the response is asked for.
    private let isHead: Bool
    private var isOver = false
    private var lines: LineStream?

    /// Makes one that waits for its response.
    init(_ stream: any HTTPStream, isHead: Bool, heads: HTTPHeadPool, streams: AdminStreams) {
        self.stream = stream
        self.isHead = isHead
        self.heads = heads
        self.streams = streams
    }

    /// Sends the response, or begins to.
    func send(_ response: AdminResponse) {
        guard !isOver else { return }
        isOver = true
        switch response {
        case .whole(let whole): send(whole)
        case .stream where streams.isFull:
            let count = AdminStreams.maxCount
            send(
                AdminResponse.Whole(
                    status: 503,
                    text: "\(count) streams are open, and there may be no more; end one of them"
                )
            )
        case .stream(let start): begin(start)
        }
    }

    private func send(_ whole: AdminResponse.Whole) {
        let head = head(whole.status, whole.contentType)
        head.contentLength = whole.body.count
        for field in whole.fields { head.add(name: Array(field.name.utf8).span, value: Array(field.value.utf8).span) }
        stream.send(head: head, end: isHead)
        heads.release(head)
        guard !isHead else { return }
        stream.send(body: whole.body.span)
        stream.sendEnd(trailers: nil)
    }

    private func begin(_ start: (LineStream) -> Void) {
        let head = head(200, "application/x-ndjson")
        defer { heads.release(head) }
        guard !isHead else { return stream.send(head: head, end: true) }
        let lines = streams.begin(on: stream)
        self.lines = lines
        stream.send(head: head, end: false)
        // Unless the reader is gone already.
        if self.lines != nil { start(lines) }
    }

    private func head(_ status: Int, _ contentType: String) -> HTTPHead {
        let head = heads.acquire()
        head.status = status
        head.add(name: Array("content-type".utf8).span, value: Array(contentType.utf8).span)
        return head
    }

    func wasReset(_ reason: HTTPReset) {
        isOver = true
        lines.take()?.wasReset()
    }

    func drained() {
        lines?.drained()
    }

    var heldBytes: Int { lines?.bytes ?? 0 }

    func received(body: Span<UInt8>) {}
    func receivedEnd(trailers: HTTPHead?) {}
    func received(informational head: HTTPHead) {}
    func received(head: HTTPHead, end: Bool) {}
}
