import Bytes
import HTTP
import Time

/// An upstream in memory: sends what a test says and shows what was asked of it.
final class ScriptedUpstream: HTTPClientOwner {
    let transcript = Transcript()
    let heads = HTTPHeadPool()
    private(set) var isClosed = false
    var whenIdle: () -> Void = {}

    private let limits: HTTPLimits
    private let output = ByteQueue()
    private var input: [UInt8] = []
    private var needsInput = false
    private(set) lazy var session = HTTP1ClientSession(owner: self, output: output, heads: heads, limits: limits)

    init(limits: HTTPLimits = HTTPLimits()) {
        self.limits = limits
    }

    /// An upstream that has been sent a whole request with this method.
    static func asked(_ method: String = "GET", limits: HTTPLimits = HTTPLimits()) -> ScriptedUpstream {
        let upstream = ScriptedUpstream(limits: limits)
        upstream.opens().stream?.send(head: Message.request(method), end: true)
        return upstream
    }

    var saw: [String] { transcript.lines }

    /// How many bytes the session has left for later.
    var unread: Int { input.count }

    /// Begins an exchange.
    @discardableResult
    func opens() -> ScriptedUser {
        let user = ScriptedUser(transcript)
        user.use(session.open(for: user))
        return user
    }

    func responses(_ text: String) {
        responses(text.bytes)
    }

    func responses(_ bytes: some Collection<UInt8>) {
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

    /// Takes what has been sent to the upstream so far.
    func receive() -> String {
        let output = output
        let text = output.readable.string
        guard !output.isEmpty else { return text }
        output.removeAll()
        session.outputDrained()
        return text
    }

    // MARK: HTTPClientOwner

    func sessionHasRoom() {
        transcript.note("idle")
        whenIdle()
    }

    func sessionSpentResets() {
        transcript.note("spent resets")
    }

    func sessionHasOutput() {}

    func sessionExceeded(_ limit: HTTP2Limit) {
        transcript.note("exceeded: \(limit)")
    }

    var now: Instant { .start }

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
        transcript.note("closed")
        isClosed = true
    }
}
