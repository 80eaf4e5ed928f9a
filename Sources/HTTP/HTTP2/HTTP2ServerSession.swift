package import Bytes
internal import CNghttp2
package import Time

/// A caller's HTTP/2 connection.
package final class HTTP2ServerSession: HTTP2Session, HTTPServerSession {
    private let caller: any HTTPServerOwner
    /// how far the graceful shutdown has come: the last streams are taken in between the two GOAWAY frames (RFC 9113 §6.8).
    private var shutdown = Shutdown.none
    private var hasSettings = false

    private enum Shutdown { case none, announced, sent }

    /// Makes the session of a connection whose first bytes are, or will be, the preface of HTTP/2.
    package init(
        owner: any HTTPServerOwner,
        output: ByteQueue,
        resources: HTTP2Resources,
        limits: HTTPLimits
    ) {
        caller = owner
        super.init(isServer: true, owner: owner, output: output, resources: resources, limits: limits)
        submit(settings: [
            (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits.streams),
            (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, Int(Self.streamWindow)),
            (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, limits.head),
            (NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1),
        ])
        hasOutput()
    }

    /// The settings of the caller count as a head, the first of all.
    package var isReadingHead: Bool { reader.head != nil || !hasSettings }

    package func headTimedOut() {
        exceeded(.stalled)
        hasOutput()
    }

    package var unfinishedHeadBytes: Int { reader.head == nil ? 0 : reader.size + (longHead?.heldBytes ?? 0) }

    /// Rejects the stream that the head is for; the others of the connection go on.
    ///
    /// Trailers are those of a call that may have been processed already: it is its user who ends it.
    package func rejectHead() {
        guard reader.head != nil, let stream = stream(readingID) else { return }
        let isRequest = reader.kind == .request
        discardHead()
        if isRequest { return stream.reset(.unprocessed) }
        if let user = stream.user { return user.shed() }
        stream.reset(.code(stream.sending == .sent ? .noError : .enhanceYourCalm))
    }

    override func receivedSettings() { hasSettings = true }

    // MARK: Requests

    override func begin(id: Int32) -> HTTP2Stream? {
        let stream = HTTP2Stream(self, id: id)
        add(stream)
        unsafe nghttp2_session_set_stream_user_data(engine, id, Unmanaged.passUnretained(stream).toOpaque())
        // Side by side, frame by frame: else a small response would wait for each large one that began before it.
        var priority = nghttp2_extpri(urgency: 3, inc: 1)
        unsafe _ = nghttp2_session_change_extpri_stream_priority(engine, id, &priority, 1)
        return stream
    }

    override func opened(_ stream: HTTP2Stream, _ head: HTTPHead, _ error: HTTPError?, end: Bool) {
        stream.receiving = end ? .ended : .body
        if let error {
            caller.sessionRejected(stream, error, head: head)
            return heads.release(head)
        }
        let user = caller.sessionOpened(stream, head: head, end: end)
        // The user may have responded or reset at once, and then it is told nothing any more.
        if stream.position >= 0, !stream.isBrokenOff, !stream.hasEnded { stream.user = user }
    }

    /// The request is over, and its user may still respond.
    override func rejectedTrailers(_ stream: HTTP2Stream, _ error: HTTPError) {
        stream.receiving = .ended
        let user = stream.user
        stream.user = nil
        user?.wasReset(.error(error))
        // A user that has not responded by now does not respond.
        if !stream.hasEnded, !stream.isReset { stream.reset(.error(error)) }
    }

    override func send(_ head: HTTPHead, end: Bool, on stream: HTTP2Stream) {
        submit(response: head, end: end, on: stream)
    }

    /// What is still to come of the request is thrown away for a while, and then rejected (RFC 9113 §8.1).
    ///
    /// Not at once: there are callers who take the response for lost if the rejection comes together with it.
    override func respondedEarly(_ stream: HTTP2Stream) {
        stream.progress = now
        caller.sessionDiscards()
    }

    package func endDiscarding(since time: Instant) -> Bool {
        var isLeft = false
        for stream in streams where stream.sending == .sent && stream.receiving != .ended && !stream.isReset {
            if stream.progress > time { isLeft = true } else { stream.reset(.code(.noError)) }
        }
        return isLeft
    }

    override func streamGone(_ stream: HTTP2Stream) {
        guard streams.isEmpty, !isClosed else { return }
        caller.sessionBecameIdle()
    }

    /// Ends the streams whose peer has taken nothing of what waits for it since `time`.
    package func endStalled(since time: Instant) {
        for stream in streams where stream.queuedBytes > 0 && stream.progress < time && !stream.isReset {
            rejectedOverLimit(.slowReader)
            let user = stream.user
            stream.resetNow(.canceled)
            user?.wentUnread()
            user?.wasReset(.canceled)
        }
    }

    /// The user may still respond; the rest of the request is rejected after the response.
    package func timeOutBody(of stream: any HTTPStream) {
        guard let stream = stream as? HTTP2Stream, let user = stream.user, !stream.isBrokenOff else { return }
        stream.user = nil
        user.wasReset(.error(.bodyTimeout))
        // An error that the user holds back is not waited for.
        if !stream.hasEnded, !stream.isBrokenOff { stream.reset(.canceled) }
    }

    // MARK: The end

    /// Does nothing: GOAWAY says it, once the connection drains.
    package func announceClose() {}

    /// Gives notice; asked again, waits no longer for a peer that has not responded to it.
    ///
    /// An idle connection is no exception: a request may be on its way, and its caller could not tell that it was not
    /// processed if the connection closed under it.
    override func drained() {
        guard !isClosed else { return }
        switch shutdown {
        case .none:
            shutdown = .announced
            unsafe _ = nghttp2_submit_shutdown_notice(engine)
        case .announced:
            sendGoaway()
        case .sent: return
        }
        hasOutput()
    }

    override func sentGoAway(_ code: HTTP2Code) {
        super.sentGoAway(code)
        guard shutdown == .announced, code == .noError else { return }
        // Behind the notice, so that the response to it says that the notice has been seen.
        unsafe _ = nghttp2_submit_ping(engine, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
    }

    /// The peer has seen the notice: what it has begun until now is served, and nothing after it.
    override func receivedPingAck() {
        if shutdown == .announced { sendGoaway() }
    }

    private func sendGoaway() {
        shutdown = .sent
        let last = unsafe nghttp2_session_get_last_proc_stream_id(engine)
        let code = HTTP2Code.noError.rawValue
        unsafe _ = nghttp2_submit_goaway(engine, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, code, nil, 0)
    }

    package func forEachExchange(_ body: (any HTTPStream, (any HTTPStreamUser)?) -> Void) {
        for stream in streams { body(stream, stream.user) }
    }

    package func abandon() {
        for stream in streams {
            let user = stream.user
            stream.user = nil
            user?.wasReset(.shutdown)
        }
        // The responses come before the GOAWAY, behind which nothing is sent.
        write()
        for stream in streams { if let reason = stream.laterReset, !stream.isReset { stream.resetNow(reason) } }
        write()
        terminate(.noError)
        write()
        close(.lingering, reporting: .shutdown)
    }
}
