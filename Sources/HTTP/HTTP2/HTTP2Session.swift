internal import Bytes
internal import CNghttp2
internal import Time

/// The state of one HTTP/2 connection (RFC 9113): many exchanges at once, each a stream.
///
/// nghttp2 knows frames, HPACK, windows and the states of streams; here is what a proxy adds: what is sent waits per stream,
/// windows open by what the other side of a call has taken, and floods have an end. The two sides of a connection are
/// `HTTP2ServerSession` and `HTTP2ClientSession`. Reading is in HTTP2Session+Reading.swift, writing in
/// HTTP2Session+Writing.swift.
@safe
package class HTTP2Session: HTTPSession {
    /// How many bytes of a stream's body may be on their way to us at first; the window grows as the user takes them.
    static let streamWindow: Int32 = 64 * 1024
    /// How far the window of a stream grows.
    static let maxStreamWindow: Int32 = 256 * 1024
    /// How many bytes of all streams may be on their way to us.
    ///
    /// What comes is taken out of this window at once: the slow reader of one stream holds nobody else back, whatever the
    /// streams hold for it.
    static let connectionWindow: Int32 = 8 * 1024 * 1024
    /// How many bytes may wait for users before the connection is one that holds much.
    static let maxHeld = 1024 * 1024
    /// How much may wait in all streams before each of them is to be sent no more.
    static let maxWaiting = 8 * 1024 * 1024
    /// How many frames may wait to be read beside four for each stream that may be open.
    private static let maxReplies = 4000
    /// How many heads are read before it is looked whether that takes long.
    private static let headsBeforeYield = 4
    /// How much of the output may wait before streams have to.
    static let maxQueued = 128 * 1024

    let isServer: Bool
    let output: ByteQueue
    let resources: HTTP2Resources
    let heads: HTTPHeadPool
    let limits: HTTPLimits
    private let owner: any HTTPSessionOwner
    /// nghttp2's session; nil only while it is being made.
    private(set) var engine: OpaquePointer?

    /// The streams that nghttp2 knows, in no order.
    private(set) var streams: [HTTP2Stream] = []
    /// Streams that nghttp2 did not take.
    var rejected: [HTTP2Stream] = []
    /// The stream that a frame was about last, so that it need not be looked for again; `streams` has it as long.
    private var latest: Unmanaged<HTTP2Stream>?
    private var latestID: Int32 = 0
    /// Reads the head that has come in part.
    var reader: HTTP2HeadReader
    /// The number of the stream that it belongs to.
    var readingID: Int32 = 0
    /// How large the heads of the requests of all streams were: a few bytes of HPACK may stand for each.
    var headBytes = 0
    var guardian: HTTP2FloodGuard
    var frames: HTTP2FrameCheck
    /// The maximum size of a head that the peer accepts (RFC 9113 §6.5.2); `.max` if the peer announces none.
    var maxHeadOfPeer = Int.max
    /// The head in several frames that is on its way to nghttp2.
    var longHead: HTTP2LongHead?
    /// How many bytes wait in all streams for the peer to take them.
    var waiting = 0
    /// How many bytes wait that users do not want yet.
    private(set) var held = 0
    /// Bytes that are being sent without having been queued, and the stream that they are sent on.
    var direct: UnsafeBufferPointer<UInt8>?
    var directStream: HTTP2Stream?
    /// How many heads have begun in what is being read, and whether the rest of it waits for the next turn.
    private var headsInTurn = 0
    var yields = false
    var isReading = false
    var isWriting = false
    private(set) var isDraining = false
    private(set) var isClosed = false
    private var isBroken = false
    /// The limit that the peer has gone beyond, which ends the connection.
    private var exceededLimit: HTTP2Limit?

    init(
        isServer: Bool,
        owner: any HTTPSessionOwner,
        output: ByteQueue,
        resources: HTTP2Resources,
        limits: HTTPLimits
    ) {
        self.isServer = isServer
        self.owner = owner
        self.output = output
        self.resources = resources
        heads = resources.heads
        self.limits = limits
        reader = HTTP2HeadReader(limits: limits)
        guardian = HTTP2FloodGuard(resets: limits.resets, continuations: limits.continuations)
        frames = HTTP2FrameCheck(isServer: isServer)
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let make = unsafe isServer ? nghttp2_session_server_new3 : nghttp2_session_client_new3
        let options = unsafe HTTP2Callbacks.options
        var functions = unsafe resources.memory.functions
        resources.memory.together {
            let result = unsafe make(&engine, HTTP2Callbacks.table, context, options, &functions)
            guard result == 0 else { fatalError("out of memory creating an HTTP/2 session") }
        }
        unsafe nghttp2_session_set_local_window_size(engine, 0, 0, Self.connectionWindow)
    }

    deinit {
        unsafe nghttp2_session_del(engine)
        resources.memory.count()
    }

    /// Sends the settings of this side; the first thing to be done.
    func submit(settings: [(nghttp2_settings_id, Int)]) {
        let entries = settings.map { id, value in
            nghttp2_settings_entry(settings_id: Int32(id.rawValue), value: UInt32(clamping: value))
        }
        unsafe entries.withUnsafeBufferPointer { entries in
            unsafe _ = nghttp2_submit_settings(
                engine,
                UInt8(NGHTTP2_FLAG_NONE.rawValue),
                entries.baseAddress,
                entries.count
            )
        }
    }

    /// The monotonic time.
    var now: Instant { owner.now }

    /// Since when the peer has taken nothing of the output; `.max` if none of it waits.
    var lastWritten: Instant { owner.lastWritten }

    // MARK: HTTPSession

    package var isBusy: Bool { !streams.isEmpty && !isClosed }

    /// Streams hold back for themselves; the connection does only to let others have their turn.
    package var isHoldingBack: Bool { yields }

    package func receive(_ bytes: Span<UInt8>) -> Int {
        guard !isClosed, !isBroken else { return bytes.count }
        (yields, headsInTurn) = (false, 0)
        isReading = true
        let result = process(bytes)
        isReading = false
        if result < 0 { broke(result) } else if waitingFrames > maxFrames { flooded() }
        hasOutput()
        guard yields, !isClosed, !isBroken else { return bytes.count }
        owner.sessionYields()
        return result
    }

    /// Counts the head of a message: each may cost much, and thousands may come in one read.
    func countHead() {
        headsInTurn += 1
        // nghttp2 does not pause in a long head, of which it gets other bytes than the peer sent.
        if longHead == nil, headsInTurn > Self.headsBeforeYield, owner.hasRunLong { yields = true }
    }

    /// How many frames wait to be written, DATA aside.
    var waitingFrames: Int { unsafe nghttp2_session_get_outbound_queue_size(engine) }

    /// The size of the table that the peer fills, as HPACK counts it (RFC 7541 §4.1).
    package var tableSize: Int { unsafe nghttp2_session_get_hd_inflate_dynamic_table_size(engine) }

    /// How many of them may wait: more than the streams account for.
    ///
    /// What a peer brings us to send while it reads nothing, resets above all, would else be held without bound.
    var maxFrames: Int { 4 * max(limits.streams, streams.count) + Self.maxReplies }

    package func receiveEnd(errno: Int32?) {
        close(.orderly, reporting: .connectionLost(errno: errno))
    }

    package func outputDrained() {
        guard !isClosed else { return }
        hasOutput()
    }

    package func fillOutput() {
        write()
    }

    package func drain() {
        isDraining = true
        drained()
    }

    /// What draining means on this side.
    func drained() {}

    // MARK: What happens to streams

    /// Sends the head of a message; which kind depends on the side.
    func send(_ head: HTTPHead, end: Bool, on stream: HTTP2Stream) {}
    /// The head of a stream is complete; what that means depends on the side.
    func opened(_ stream: HTTP2Stream, _ head: HTTPHead, _ error: HTTPError?, end: Bool) {}
    /// The trailers of a stream are beyond a limit, or malformed; what that means depends on the side.
    func rejectedTrailers(_ stream: HTTP2Stream, _ error: HTTPError) {}
    /// A head begins on a stream that is not known.
    func begin(id: Int32) -> HTTP2Stream? { nil }
    /// The peer takes no more new streams, or has acknowledged a PING, or has changed its settings.
    func receivedGoAway() {}
    func receivedPingAck() {}
    func receivedSettings() {}
    /// Called with the stream's ID when a RST_STREAM frame has gone into the output.
    func sentReset(id: Int32) {}
    /// Called when a stream has been removed, which may make room for another.
    func streamGone(_ stream: HTTP2Stream) {}
    /// The connection holds much for its users, or does so no longer.
    func holdsMuchChanged() {}

    /// The message is out as a whole, and the peer has not ended its own.
    func respondedEarly(_ stream: HTTP2Stream) {}
    /// The peer has ended its message, and the user of the stream knows.
    func receivedWhole(_ stream: HTTP2Stream) {}

    // MARK: What streams take and give back

    // Here, and not `session.heads.release`: what is reached over two objects is counted.
    func acquireQueue() -> ByteQueue { resources.queues.acquire() }
    func release(_ queue: consuming ByteQueue) { resources.queues.release(queue) }
    func release(_ head: consuming HTTPHead) { heads.release(head) }

    func copy(_ head: HTTPHead) -> HTTPHead {
        let copy = heads.acquire()
        copy.copy(head)
        return copy
    }

    // MARK: What users do not take

    /// Whether so much waits for users that new exchanges had better go by another connection.
    package var holdsMuch: Bool { held >= Self.maxHeld }

    /// Bytes wait for the user of a stream.
    func hold(_ count: Int) {
        let before = holdsMuch
        held += count
        if holdsMuch != before { holdsMuchChanged() }
    }

    /// Bytes that waited have gone to their user, or are not wanted any more.
    func release(_ count: Int) {
        let before = holdsMuch
        held -= count
        if holdsMuch != before, !isClosed { holdsMuchChanged() }
    }

    // MARK: The list of streams

    func add(_ stream: HTTP2Stream) {
        stream.position = streams.count
        streams.append(stream)
        unsafe latest = .passUnretained(stream)
        latestID = stream.id
    }

    /// The stream with this number, if there is one.
    func stream(_ id: Int32) -> HTTP2Stream? {
        unsafe find(id)?.takeUnretainedValue()
    }

    /// Lends the stream with this number, if there is one, to what calls nobody who could end it.
    ///
    /// What is lent is not counted, and frames are what there is most of.
    @inline(__always)
    func lend<Result>(_ id: Int32, _ body: (HTTP2Stream) -> Result) -> Result? {
        guard let stream = unsafe find(id) else { return nil }
        return unsafe stream._withUnsafeGuaranteedRef(body)
    }

    private func find(_ id: Int32) -> Unmanaged<HTTP2Stream>? {
        guard !isClosed else { return nil }
        if latestID == id, let latest = unsafe latest { return unsafe latest }
        guard let found = unsafe nghttp2_session_get_stream_user_data(engine, id) else { return nil }
        let stream = unsafe Unmanaged<HTTP2Stream>.fromOpaque(found)
        unsafe latest = stream
        latestID = id
        return unsafe stream
    }

    /// nghttp2 lets go of a stream.
    func closed(id: Int32, code: HTTP2Code) -> Int32 {
        // A head whose stream is gone does not come to its end any more.
        if id == readingID { discardHead() }
        guard let stream = stream(id) else { return 0 }
        remove(stream)
        // When the user resumes, it still receives the queued part of a response, or of a request that is read on.
        let reason = stream.rejection ?? (stream.isMalformed ? .error(.http2Message) : .code(code))
        stream.endBehindInput(reporting: stream.isWhole ? nil : reason)
        streamGone(stream)
        return 0
    }

    /// Takes a stream off the list.
    func remove(_ stream: HTTP2Stream) {
        let position = stream.position
        guard position >= 0 else { return }
        streams.swapAt(position, streams.count - 1)
        streams.removeLast()
        if position < streams.count { streams[position].position = position }
        stream.position = -1
        headBytes -= stream.headBytes
        if latestID == stream.id { unsafe latest = nil }
    }

    // MARK: The end

    /// The peer went beyond a limit: the connection ends as soon as it has been told.
    func exceeded(_ limit: HTTP2Limit) {
        guard exceededLimit == nil else { return }
        exceededLimit = limit
        owner.sessionExceeded(limit)
        terminate(.enhanceYourCalm)
    }

    /// A GOAWAY has gone out; where it was nghttp2 that found a limit exceeded, its code says which.
    func sentGoAway(_ code: HTTP2Code) {
        let limit: HTTP2Limit? =
            switch code {
            case .enhanceYourCalm: .settings
            case .compressionError: .hpack
            case .flowControlError: .window
            default: nil
            }
        guard let limit, exceededLimit == nil else { return }
        exceededLimit = limit
        owner.sessionExceeded(limit)
    }

    /// Tells of a limit that costs the peer no more than the request.
    func rejectedOverLimit(_ limit: HTTP2Limit) {
        owner.sessionExceeded(limit)
    }

    func terminate(_ code: HTTP2Code) {
        unsafe _ = nghttp2_session_terminate_session(engine, code.rawValue)
    }

    /// nghttp2 cannot go on, or was told not to: nothing that still arrives is looked at.
    private func broke(_ error: Int) {
        if error == Int(NGHTTP2_ERR_FLOODED.rawValue) { return flooded() }
        isBroken = true
        guard !isClosed else { return }
        terminate(error == Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) ? .enhanceYourCalm : .protocolError)
    }

    /// The peer brings us to send and reads nothing: nothing that still arrives is looked at.
    private func flooded() {
        isBroken = true
        guard !isClosed else { return }
        exceeded(.slowReader)
    }

    /// Ends the session, after what is in the output, if neither side has anything left to say.
    func closeIfOver() {
        guard !isClosed, unsafe nghttp2_session_want_read(engine) == 0 else { return }
        guard unsafe nghttp2_session_want_write(engine) == 0 else { return }
        close(.lingering, reporting: .connectionLost(errno: nil))
    }

    func close(_ end: SessionEnd, reporting reason: HTTPReset) {
        guard !isClosed else { return }
        isClosed = true
        unsafe latest = nil
        discardHead()
        let left = streams + rejected
        rejected = []
        streams = []
        for stream in left { stream.position = -1 }
        let reason = exceededLimit.map { HTTPReset.exceeded($0) } ?? reason
        for stream in left { stream.endBehindInput(reporting: stream.rejection ?? reason) }
        owner.sessionEnded(end)
    }

    func hasOutput() {
        owner.sessionHasOutput()
    }
}
