import Bytes
import HTTP
import Time

/// A stream whose peer takes bytes when the test says so.
final class ScriptedStream: HTTPStream {
    let version = HTTPVersion.http2
    private(set) var status: Int?
    private(set) var contentType: String?
    private(set) var contentLength: Int?
    /// What has been sent of the body, taken or not.
    private(set) var body: [UInt8] = []
    private(set) var hasEnded = false
    private(set) var queuedBytes = 0
    /// How many bytes the peer takes at once, before it is slow.
    var room = Int.max

    var isCrowded: Bool { false }
    var heldBytes: Int { 0 }
    var waitsSince: Instant { .max }

    func send(informational head: HTTPHead) {}

    func send(head: HTTPHead, end: Bool) {
        status = head.status
        contentLength = head.contentLength
        contentType = head.first(FieldName("content-type")).map { head.value(at: $0).string }
        hasEnded = end
    }

    func send(body bytes: Span<UInt8>) {
        body += bytes.array
        let taken = min(room, bytes.count)
        room -= taken
        queuedBytes += bytes.count - taken
    }

    func sendEnd(trailers: HTTPHead?) {
        hasEnded = true
    }

    /// The peer takes all that waits.
    func drain() {
        queuedBytes = 0
    }

    func reset(_ reason: HTTPReset) {}
    func pause(_ reason: PauseReason) {}
    func resume(_ reason: PauseReason) {}

    /// The lines of the body.
    var lines: [String] { String(decoding: body, as: UTF8.self).split(separator: "\n").map(String.init) }
}
