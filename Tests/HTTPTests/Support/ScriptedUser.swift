import Bytes
import HTTP

/// Uses a stream as a test tells it, and notes all that it is told.
final class ScriptedUser: HTTPStreamUser {
    let transcript: Transcript
    private(set) var stream: (any HTTPStream)?
    private(set) var wasReset = false
    /// Whether it is noted that the peer has taken what was queued.
    var notesDrained = true
    /// Whether it says that what it was given waits where it has gone to.
    var isBehind = false
    /// What to do when something is told, while it is being told.
    var whenHead: (any HTTPStream) -> Void = { _ in }
    var whenBody: (any HTTPStream) -> Void = { _ in }
    var whenEnd: (any HTTPStream) -> Void = { _ in }
    var whenReset: (any HTTPStream) -> Void = { _ in }
    var whenDrained: (any HTTPStream) -> Void = { _ in }

    init(_ transcript: Transcript) {
        self.transcript = transcript
    }

    var saw: [String] { transcript.lines }

    func use(_ stream: any HTTPStream) {
        self.stream = stream
    }

    /// Lets go of the stream.
    func remove() {
        stream = nil
    }

    func received(informational head: HTTPHead) {
        transcript.note("interim", head)
    }

    func received(head: HTTPHead, end: Bool) {
        transcript.note("response", head)
        if end { transcript.note("end") }
        if let stream { end ? whenEnd(stream) : whenHead(stream) }
    }

    func received(body: Span<UInt8>) {
        transcript.note(body: body)
        if let stream { whenBody(stream) }
    }

    func receivedEnd(trailers: HTTPHead?) {
        transcript.note("end")
        if let trailers { transcript.note(fieldsOf: trailers) }
        if let stream { whenEnd(stream) }
    }

    func wasReset(_ reason: HTTPReset) {
        transcript.note("reset: \(reason.words)")
        wasReset = true
        if let stream { whenReset(stream) }
    }

    func drained() {
        if notesDrained { transcript.note("drained") }
        if let stream { whenDrained(stream) }
    }
}
