package import Bytes
internal import CNghttp2

/// An HTTP/2 connection to an upstream.
package final class HTTP2ClientSession: HTTP2Session, HTTPClientSession {
    private let upstream: any HTTPClientOwner
    private let scheme: StaticString
    package private(set) var isPinging = false
    private var acceptsNoMore = false
    private var maxStreams = 0
    private var budget = HTTP2ResetBudget()
    /// Whether the settings of the peer have come.
    ///
    /// A stream that is opened before may be one more than the peer allows, and servers take that for an attack.
    package private(set) var isReady = false

    /// Makes the session of a new connection; `isSecure` says which scheme its requests are for.
    package init(
        owner: any HTTPClientOwner,
        output: ByteQueue,
        resources: HTTP2Resources,
        limits: HTTPLimits,
        isSecure: Bool
    ) {
        upstream = owner
        scheme = isSecure ? "https" : "http"
        super.init(isServer: false, owner: owner, output: output, resources: resources, limits: limits)
        submit(settings: [
            (NGHTTP2_SETTINGS_ENABLE_PUSH, 0),
            (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, Int(Self.streamWindow)),
            (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, limits.head),
        ])
        hasOutput()
    }

    package private(set) var isForeign = false

    override func sentGoAway(_ code: HTTP2Code) {
        super.sentGoAway(code)
        // Streams that have not begun by now never will, and are told so next.
        acceptsNoMore = true
        if !isReady, code != .noError { isForeign = true }
    }

    // MARK: Exchanges

    package var room: Int {
        isReady && !isRetired ? max(0, maxStreams - streams.count) : 0
    }

    package func open(for user: any HTTPStreamUser) -> any HTTPStream {
        let stream = HTTP2Stream(self, id: 0)
        stream.user = user
        return stream
    }

    override func send(_ head: HTTPHead, end: Bool, on stream: HTTP2Stream) {
        stream.sentAt = now
        submit(request: head, scheme: scheme, end: end, on: stream)
        if unsafe nghttp2_session_get_next_stream_id(engine) > UInt32(Int32.max) { acceptsNoMore = true }
    }

    override func opened(_ stream: HTTP2Stream, _ head: HTTPHead, _ error: HTTPError?, end: Bool) {
        guard let user = stream.user else { return heads.release(head) }
        if let error {
            heads.release(head)
            stream.reset(.error(error))
            return user.wasReset(.error(error))
        }
        if head.isInterim {
            // All interim responses and the final one share one limit, or they could go on for ever.
            stream.interimBytes += reader.size
            guard stream.interimBytes <= limits.head else {
                heads.release(head)
                stream.reset(.error(.headTooLarge))
                return user.wasReset(.error(.headTooLarge))
            }
            head.contentLength = nil
            user.received(informational: head)
            return heads.release(head)
        }
        stream.receiving = end ? .ended : .body
        user.received(head: head, end: end)
        if end { receivedWhole(stream) }
    }

    override func rejectedTrailers(_ stream: HTTP2Stream, _ error: HTTPError) {
        let user = stream.user
        stream.reset(.error(error))
        user?.wasReset(.error(error))
    }

    /// An upstream that has responded before it had the whole request does not get the rest.
    override func receivedWhole(_ stream: HTTP2Stream) {
        stream.user = nil
        if stream.sending != .sent { reset(stream, .canceled) }
    }

    override func streamGone(_ stream: HTTP2Stream) {
        guard !isClosed else { return }
        // The server has not seen a request that is still queued.
        if stream.output != .queued { budget.countClosed() }
        if streams.isEmpty, isDraining { return close(.orderly, reporting: .canceled) }
        upstream.sessionHasRoom()
    }

    override func sentReset(id: Int32) {
        let waiting = stream(id).flatMap { $0.receiving == .head ? $0 : nil }
        if budget.spend(at: now, unansweredSince: waiting?.sentAt) { upstream.sessionSpentResets() }
    }

    override func holdsMuchChanged() { upstream.sessionHasRoom() }

    override func receivedSettings() {
        isReady = true
        let allowed = unsafe nghttp2_session_get_remote_settings(engine, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
        maxStreams = min(Int(allowed), limits.streams)
        let size = unsafe nghttp2_session_get_remote_settings(engine, NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE)
        // Without the setting, nghttp2 has the largest number.
        maxHeadOfPeer = size == .max ? .max : Int(size)
        upstream.sessionHasRoom()
    }

    override func receivedGoAway() {
        acceptsNoMore = true
        upstream.sessionHasRoom()
    }

    override func receivedPingAck() { isPinging = false }

    package func ping() -> Bool {
        guard !isPinging else { return false }
        isPinging = true
        unsafe _ = nghttp2_submit_ping(engine, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
        hasOutput()
        return true
    }

    override func drained() {
        if streams.isEmpty { close(.orderly, reporting: .canceled) }
    }

    /// Whether no exchange will be begun on the connection any more: one of the two sides has said so, or the numbers of
    /// streams have run out.
    package var isRetired: Bool { isDraining || isClosed || acceptsNoMore }
}
