import Bytes
import HTTP
import Time

/// A caller in memory: sends what a test says and shows what comes back, and what the owner of the session and the
/// users of its streams are told.
final class ScriptedCaller: HTTPServerOwner {
    let transcript = Transcript()
    let heads = HTTPHeadPool()
    /// The users of all exchanges so far.
    private(set) var users: [ScriptedUser] = []
    private(set) var isClosed = false
    /// What to do with a request when it has begun, before its user is known.
    var whenOpened: (ScriptedUser, any HTTPStream) -> Void = { _, _ in }
    /// What to do with a request that is rejected.
    var whenRejected: (any HTTPStream, HTTPError) -> Void = { $0.response($1.status) }
    var whenIdle: () -> Void = {}

    private let limits: HTTPLimits
    private let output = ByteQueue()
    private var input: [UInt8] = []
    private var needsInput = false
    private(set) lazy var session: HTTP1ServerSession! =
        HTTP1ServerSession(owner: self, output: output, heads: heads, limits: limits)

    init(limits: HTTPLimits = HTTPLimits()) {
        self.limits = limits
    }

    /// A caller whose every request is answered with 200 when it has come whole.
    static func served(limits: HTTPLimits = HTTPLimits()) -> ScriptedCaller {
        let caller = ScriptedCaller(limits: limits)
        caller.whenOpened = { user, _ in user.whenEnd = { $0.response(200) } }
        return caller
    }

    var saw: [String] { transcript.lines }

    /// How many bytes the session has left for later.
    var unread: Int { input.count }

    func sends(_ text: String) {
        sends(text.bytes)
    }

    func sends(_ bytes: some Collection<UInt8>) {
        input += bytes
        repeat {
            needsInput = false
            let given = input
            input.removeFirst(session.receive(given.span))
        } while needsInput && !input.isEmpty
    }

    func hangsUp(errno: Int32? = nil) {
        session.receiveEnd(errno: errno)
    }

    /// Takes what has been sent to the caller so far.
    func receive() -> String {
        let output = output
        let text = output.readable.string
        guard !output.isEmpty else { return text }
        output.removeAll()
        session.outputDrained()
        if needsInput { sends([]) }
        return text
    }

    /// Gives its session away, as between two calls.
    func rests(in pool: HTTP1SessionPool) {
        let given = session!
        session = nil
        pool.release(consume given)
    }

    /// Takes a session for its next call.
    func wakes(from pool: HTTP1SessionPool) {
        session = pool.acquire(for: self, output: output, limits: limits)
    }

    // MARK: HTTPServerOwner

    func sessionOpened(_ stream: any HTTPStream, head: HTTPHead, end: Bool) -> any HTTPStreamUser {
        transcript.note("request", head)
        if end { transcript.note("end") }
        heads.release(head)
        let user = ScriptedUser(transcript)
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

    var now: Instant { .start }

    func sessionDiscards() {}

    func sessionNeedsInput() {
        needsInput = true
    }

    var hasRunLong: Bool { false }
    var lastWritten: Instant { .max }

    func sessionYields() {}

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
