internal import Bytes
internal import CNghttp2

/// What nghttp2 tells of the frames that arrive.
extension HTTP2Session {
    private static let proceed: Int32 = 0
    private static var abort: Int32 { NGHTTP2_ERR_CALLBACK_FAILURE.rawValue }

    func beganFrame(type: UInt8) -> Int32 {
        switch UInt32(type) {
        case NGHTTP2_HEADERS.rawValue: guardian.headBegan()
        case NGHTTP2_CONTINUATION.rawValue:
            if let limit = guardian.headContinued() { return stop(limit) }
        // Here, and not when they have come whole: of frames on streams that have ended nghttp2 tells no more.
        case NGHTTP2_WINDOW_UPDATE.rawValue: return count(.window)
        case NGHTTP2_PRIORITY.rawValue, NGHTTP2_CONTINUATION.rawValue + 1...255: return count(.priority)
        default: break
        }
        return Self.proceed
    }

    // MARK: Heads

    func beganHead(id: Int32) -> Int32 {
        guard !isClosed else { return Self.abort }
        if headBytes >= limits.heads, stream(id) == nil { return reject(id: id) }
        guard let stream = stream(id) ?? begin(id: id) else { return Self.proceed }
        readingID = id
        countHead()
        reader.begin(stream.receiving != .head ? .trailers : isServer ? .request : .response, into: heads.acquire())
        return Self.proceed
    }

    /// Rejects a new stream; nghttp2 goes through its head for HPACK's sake, and tells nothing of it.
    private func reject(id: Int32) -> Int32 {
        rejectedOverLimit(.heads)
        frames.reset(id)
        // Before nghttp2 resets the stream by itself, with a code by which the call may not be made again.
        let code = HTTP2Code.refusedStream.rawValue
        unsafe _ = nghttp2_submit_rst_stream(engine, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, code)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
    }

    func received(name: Span<UInt8>, value: Span<UInt8>) -> Int32 {
        if longHead != nil, let field = longHead?.takeField() {
            reader.add(name, field)
        } else {
            reader.add(name, value)
        }
        // A little too much is rejected with a response; what is out of all proportion is an attack.
        guard reader.error != nil, reader.size > limits.rejectedHead else {
            return yields ? NGHTTP2_ERR_PAUSE.rawValue : Self.proceed
        }
        return stop(.headerList)
    }

    private func headCame(_ frame: UnsafePointer<nghttp2_frame>) {
        guard let head = reader.finish() else { return }
        guard let stream = unsafe stream(frame.pointee.hd.stream_id) else { return heads.release(head) }
        let end = unsafe frame.pointee.hd.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
        if reader.kind == .request {
            stream.headBytes = reader.size
            headBytes += reader.size
        }
        guard reader.kind == .trailers else { return opened(stream, head, reader.error, end: end) }
        if let error = reader.error { rejectedTrailers(stream, error) } else { stream.receivedEnd(trailers: head) }
        heads.release(head)
    }

    /// Gives up the head that is being read.
    func discardHead() {
        if let head = reader.finish() { heads.release(head) }
    }

    // MARK: Bodies

    func received(body: Span<UInt8>, id: Int32) -> Int32 {
        guard !isClosed else { return Self.abort }
        stream(id)?.received(body)
        guard !isClosed else { return Self.abort }
        unsafe _ = nghttp2_session_consume_connection(engine, body.count)
        return Self.proceed
    }

    private func dataCame(_ frame: UnsafePointer<nghttp2_frame>) -> Int32 {
        let header = unsafe frame.pointee.hd
        if header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 {
            stream(header.stream_id)?.receivedEnd(trailers: nil)
            return Self.proceed
        }
        guard unsafe header.length == frame.pointee.data.padlen else { return Self.proceed }
        return count(.emptyData)
    }

    /// The other side of a call has taken bytes of a stream's body: the peer may send as many more.
    func consume(_ count: Int, of stream: HTTP2Stream) {
        guard !isClosed else { return }
        if stream.growsWindow(by: count) {
            let none = UInt8(NGHTTP2_FLAG_NONE.rawValue)
            unsafe _ = nghttp2_session_set_local_window_size(engine, none, stream.id, stream.window)
        }
        unsafe _ = nghttp2_session_consume_stream(engine, stream.id, count)
        if !isReading { hasOutput() }
    }

    // MARK: Frames

    func received(_ frame: UnsafePointer<nghttp2_frame>) -> Int32 {
        guard !isClosed else { return Self.abort }
        let header = unsafe frame.pointee.hd
        let isAck = header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0
        switch UInt32(header.type) {
        case NGHTTP2_DATA.rawValue: return unsafe dataCame(frame)
        case NGHTTP2_HEADERS.rawValue: unsafe headCame(frame)
        // What an upstream resets is its own work.
        case NGHTTP2_RST_STREAM.rawValue: return isServer ? count(.rapidReset) : Self.proceed
        case NGHTTP2_SETTINGS.rawValue:
            if isAck { return Self.proceed }
            receivedSettings()
            return count(.settings)
        case NGHTTP2_PING.rawValue:
            if isAck { receivedPingAck() }
            return count(.ping)
        case NGHTTP2_GOAWAY.rawValue:
            receivedGoAway()
            // nghttp2 goes through all streams for each.
            return count(.settings)
        default: break
        }
        return Self.proceed
    }

    /// A frame breaks the protocol: nghttp2 ends the stream, or the connection.
    func receivedInvalid(_ header: nghttp2_frame_hd) -> Int32 {
        // A stream that is rejected at once is never there, and its peer learns of that later.
        frames.reset(header.stream_id)
        stream(header.stream_id)?.isMalformed = true
        guard UInt32(header.type) == NGHTTP2_HEADERS.rawValue else { return Self.proceed }
        discardHead()
        if isServer, streams.count >= limits.streams { rejectedOverLimit(.streams) }
        return Self.proceed
    }

    private func count(_ limit: HTTP2Limit) -> Int32 {
        guardian.count(limit, now: now).map(stop) ?? Self.proceed
    }

    private func stop(_ limit: HTTP2Limit) -> Int32 {
        exceeded(limit)
        return Self.abort
    }
}
