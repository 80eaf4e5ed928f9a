import Bytes
import HTTP
import HTTP2Kit
import Time

/// An upstream in memory that speaks HTTP/2: responds with the frames that a test says and shows those that came.
final class HTTP2Upstream: HTTPClientOwner {
    let transcript = Transcript()
    let heads = HTTPHeadPool()
    private(set) var isClosed = false
    /// How often it was told that there may be room.
    private(set) var reportedRoom = 0
    /// What to do when it is told so, while it is being told.
    var whenRoom: () -> Void = {}
    /// The monotonic time in nanoseconds.
    var now = Instant.start + .second

    private let limits: HTTPLimits
    private let isSecure: Bool
    private let output = ByteQueue()
    private let reader = FrameReader(ofClient: true)
    private(set) lazy var session = HTTP2ClientSession(
        owner: self,
        output: output,
        resources: HTTP2Resources(heads: heads, queues: ByteQueuePool()),
        limits: limits,
        isSecure: isSecure
    )

    /// Makes an upstream that has got the preface and the settings of the session, and sent these.
    init(
        limits: HTTPLimits = HTTPLimits(),
        settings: KeyValuePairs<Setting, Int> = [:],
        isSecure: Bool = false,
        begins: Bool = true
    ) {
        self.limits = limits
        self.isSecure = isSecure
        guard begins else { return }
        _ = receive()
        responses(.settings(settings), .settingsAck)
        _ = receive()
        reportedRoom = 0
    }

    /// An upstream that has been sent a whole request with this method.
    static func asked(_ method: String = "GET", limits: HTTPLimits = HTTPLimits()) -> HTTP2Upstream {
        let upstream = HTTP2Upstream(limits: limits)
        upstream.asks(method)
        _ = upstream.receive()
        return upstream
    }

    var saw: [String] { transcript.lines }

    /// Begins an exchange.
    @discardableResult
    func opens() -> ScriptedUser {
        let user = ScriptedUser(Transcript(in: transcript))
        user.notesDrained = false
        user.use(session.open(for: user))
        return user
    }

    /// Begins an exchange whose request is nothing but a head.
    @discardableResult
    func asks(_ method: String = "GET", _ path: String = "/") -> ScriptedUser {
        let user = opens()
        user.stream?.send(head: Message.request(method, path), end: true)
        return user
    }

    /// Sends frames together, as if they came at once.
    func responses(_ frames: Frame...) {
        responses(frames.flatMap(\.bytes))
    }

    func responses(_ bytes: [UInt8]) {
        precondition(offers(bytes) == bytes.count)
    }

    /// Sends bytes of which the session may leave some.
    ///
    /// - Returns: how many it has taken.
    func offers(_ bytes: [UInt8]) -> Int {
        session.receive(bytes.span)
    }

    func hangsUp(errno: Int32? = nil) {
        session.receiveEnd(errno: errno)
    }

    /// Takes what has been sent to the upstream so far, in words.
    func receive() -> [String] {
        session.flush(output, into: reader)
        return reader.receive()
    }

    /// All frames that have been taken.
    var frames: [Frame] { reader.frames }

    // MARK: HTTPClientOwner

    func sessionHasRoom() {
        reportedRoom += 1
        whenRoom()
    }

    func sessionSpentResets() {
        transcript.note("spent resets")
    }

    func sessionHasOutput() {}

    func sessionExceeded(_ limit: HTTP2Limit) {
        transcript.note("exceeded: \(limit)")
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
        transcript.note("closed")
        isClosed = true
    }
}
