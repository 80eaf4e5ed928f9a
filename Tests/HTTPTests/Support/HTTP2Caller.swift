import Bytes
import HTTP
import HTTP2Kit
import Time

/// A caller in memory that speaks HTTP/2: sends the frames that a test says and shows those that come back, and what the
/// owner of the session and the users of its streams are told.
final class HTTP2Caller: HTTPServerOwner {
    let transcript = Transcript()
    let heads = HTTPHeadPool()
    /// The users of all exchanges so far; what each was told is in its own transcript too.
    private(set) var users: [ScriptedUser] = []
    private(set) var isClosed = false
    /// What to do with a request when it has begun, before its user is known.
    var whenOpened: (ScriptedUser, any HTTPStream) -> Void = { _, _ in }
    /// What to do with a request that is rejected.
    var whenRejected: (any HTTPStream, HTTPError) -> Void = { $0.response($1.status) }
    var whenIdle: () -> Void = {}
    /// The monotonic time in nanoseconds.
    var now = Instant.start + .second

    private let limits: HTTPLimits
    private let output = ByteQueue()
    private let reader = FrameReader(ofClient: false)
    private(set) lazy var session = HTTP2ServerSession(
        owner: self,
        output: output,
        resources: HTTP2Resources(heads: heads, queues: ByteQueuePool()),
        limits: limits
    )

    /// Makes a caller that has sent the preface and these settings, and acknowledged those of the session.
    init(limits: HTTPLimits = HTTPLimits(), settings: KeyValuePairs<Setting, Int> = [:], begins: Bool = true) {
        self.limits = limits
        guard begins else { return }
        sends(FrameReader.preface)
        sends(.settings(settings), .settingsAck)
        _ = receive()
    }

    /// A caller whose every request is answered with 200 when it has come whole.
    static func served(limits: HTTPLimits = HTTPLimits()) -> HTTP2Caller {
        let caller = HTTP2Caller(limits: limits)
        caller.whenOpened = { user, _ in user.whenEnd = { $0.response(200) } }
        return caller
    }

    var saw: [String] { transcript.lines }

    /// Sends frames together, as if they came at once.
    func sends(_ frames: Frame...) {
        sends(frames.flatMap(\.bytes))
    }

    func sends(_ bytes: [UInt8]) {
        precondition(offers(bytes) == bytes.count)
    }

    /// Sends bytes of which the session may leave some.
    ///
    /// - Returns: how many it has taken.
    func offers(_ bytes: [UInt8]) -> Int {
        session.receive(bytes.span)
    }

    /// A second passes, after which the rest of requests that were answered before is not waited for any more.
    ///
    /// - Returns: whether there are others that were answered since.
    @discardableResult
    func waitsASecond() -> Bool {
        now += .second
        return session.endDiscarding(since: now - .second)
    }

    func hangsUp(errno: Int32? = nil) {
        session.receiveEnd(errno: errno)
    }

    /// Takes what has been sent to the caller so far, in words.
    func receive() -> [String] {
        session.flush(output, into: reader)
        return reader.receive()
    }

    /// All frames that have been taken.
    var frames: [Frame] { reader.frames }

    /// How many bytes wait to be taken.
    var queued: Int { output.count }

    /// Lets go of the users, and them of their streams, as calls do at their end.
    func removeUsers() {
        users = []
    }

    // MARK: HTTPServerOwner

    func sessionOpened(_ stream: any HTTPStream, head: HTTPHead, end: Bool) -> any HTTPStreamUser {
        let user = ScriptedUser(Transcript(in: transcript))
        user.notesDrained = false
        user.transcript.note("request", head)
        if end { user.transcript.note("end") }
        heads.release(head)
        user.use(stream)
        users.append(user)
        whenOpened(user, stream)
        if end { user.whenEnd(stream) }
        return user
    }

    func sessionRejected(_ stream: any HTTPStream, _ error: HTTPError, head: HTTPHead?) {
        transcript.note("rejected: \(error)")
        whenRejected(stream, error)
    }

    func sessionBecameIdle() {
        transcript.note("idle")
        whenIdle()
    }

    func sessionHasOutput() {}

    func sessionExceeded(_ limit: HTTP2Limit) {
        transcript.note("exceeded: \(limit)")
    }

    func sessionDiscards() {
        transcript.note("discards")
    }

    func sessionNeedsInput() {
        transcript.note("wants input")
    }

    var hasRunLong = false
    var lastWritten: Instant { .max }

    func sessionYields() {
        transcript.note("yields")
    }

    func sessionSends(_ body: Span<UInt8>) {
        output.append(body)
    }

    func sessionEnded(_ end: SessionEnd) {
        switch end {
        case .orderly: transcript.note("closed")
        case .lingering: transcript.note("closed, lingering")
        case .abort: transcript.note("aborted")
        }
        isClosed = true
    }
}
