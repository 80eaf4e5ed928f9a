public import Bytes
internal import CNghttp2

/// An HTTP/2 connection to an upstream.
public final class HTTP2ClientSession: HTTP2Session, HTTPClientSession {
    private let upstream: any HTTPClientOwner
    private let scheme: StaticString
    private var isPinging = false

    /// Makes the session of a new connection; `isSecure` says which scheme its requests are for.
    public init(
        owner: any HTTPClientOwner,
        output: ByteQueue,
        heads: HTTPHeadPool,
        buffers: BufferPool,
        limits: HTTPLimits,
        isSecure: Bool
    ) {
        upstream = owner
        scheme = isSecure ? "https" : "http"
        super.init(isServer: false, owner: owner, output: output, heads: heads, buffers: buffers, limits: limits)
        submit(settings: [
            (NGHTTP2_SETTINGS_ENABLE_PUSH, 0),
            (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, Int(Self.streamWindow)),
            (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, limits.head),
        ])
        hasOutput()
    }

    // MARK: Exchanges

    public var room: Int {
        guard !isDraining, !isClosed, unsafe nghttp2_session_check_request_allowed(engine) != 0 else { return 0 }
        let allowed = unsafe nghttp2_session_get_remote_settings(engine, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
        return max(0, min(Int(allowed), limits.streams) - streams.count)
    }

    public func open(for user: any HTTPStreamUser) -> any HTTPStream {
        let stream = HTTP2Stream(self, id: 0)
        stream.user = user
        return stream
    }

    override func send(_ head: HTTPHead, end: Bool, on stream: HTTP2Stream) {
        submit(request: head, scheme: scheme, end: end, on: stream)
    }

    override func opened(_ stream: HTTP2Stream, _ reader: HTTP2HeadReader, end: Bool) {
        let head = reader.head
        guard let user = stream.user, reader.fault == nil else {
            heads.give(head)
            let user = stream.user
            if let fault = reader.fault {
                stream.reset(.fault(fault))
                user?.wasReset(.fault(fault))
            }
            return
        }
        if head.isInterim {
            head.contentLength = nil
            user.received(informational: head)
            return heads.give(head)
        }
        stream.hasHead = true
        if end { stream.hasReceivedEnd = true }
        user.received(head: head, end: end)
        if end { receivedWhole(stream) }
    }

    /// An upstream that has answered before it had the whole request does not get the rest.
    override func receivedWhole(_ stream: HTTP2Stream) {
        stream.user = nil
        if !stream.hasSentEnd { reset(stream, .canceled) }
    }

    override func streamGone() {
        guard !isClosed else { return }
        if streams.isEmpty, isDraining { return close(.orderly, telling: .canceled) }
        upstream.sessionHasRoom()
    }

    override func receivedSettings() { upstream.sessionHasRoom() }
    override func receivedGoAway() { upstream.sessionHasRoom() }
    override func receivedPingAck() { isPinging = false }

    override func drained() {
        if streams.isEmpty { close(.orderly, telling: .canceled) }
    }

    /// Whether no exchange will be begun on the connection any more.
    public var isRetired: Bool {
        unsafe isDraining || isClosed || nghttp2_session_check_request_allowed(engine) == 0
    }

    /// Sends a PING, if the answer to the one before has come.
    ///
    /// - Returns: whether it has; else the connection is dead.
    public func ping() -> Bool {
        guard !isPinging else { return false }
        isPinging = true
        unsafe _ = nghttp2_submit_ping(engine, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
        hasOutput()
        return true
    }
}
