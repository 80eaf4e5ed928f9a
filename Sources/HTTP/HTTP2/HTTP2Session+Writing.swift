internal import Bytes
internal import CNghttp2
internal import Time

/// How what streams send becomes frames in the output.
///
/// Small pieces wait for the end of the turn, when head, body and trailers go into frames in one go; large ones go at
/// once, without having been copied into a queue.
extension HTTP2Session {
    /// From how many bytes on a piece of a body is not queued, if it need not be.
    private static let large = 4 * 1024

    // MARK: What streams send

    /// Sends the response on a caller's stream.
    func submit(response head: HTTPHead, end: Bool, on stream: HTTP2Stream) {
        guard !isClosed, stream.position >= 0 else { return }
        var provider = unsafe Self.provider
        // The objects that a closure takes with it are counted; numbers and pointers are not.
        let (engine, id) = unsafe (engine, stream.id)
        unsafe HTTP2FieldBlock.lend(head, .response) { fields, count in
            unsafe withUnsafePointer(to: &provider) { provider in
                unsafe _ = nghttp2_submit_response(engine, id, fields, count, end ? nil : provider)
            }
        }
        hasOutput()
    }

    /// Begins a stream with a request.
    func submit(request head: HTTPHead, scheme: StaticString, end: Bool, on stream: HTTP2Stream) {
        // The connection may have closed since the stream was opened, which nobody has told a stream without a request.
        guard !isClosed else { return stream.end(reporting: .unprocessed) }
        var provider = unsafe Self.provider
        let context = unsafe Unmanaged.passUnretained(stream).toOpaque()
        let engine = unsafe engine
        let limit = maxHeadOfPeer
        stream.id = unsafe HTTP2FieldBlock.lend(head, .request(scheme: scheme)) { fields, count in
            guard unsafe limit == .max || HTTP2FieldBlock.size(fields, count) <= limit else {
                stream.rejection = .tooLargeForPeer(limit: limit)
                return -1
            }
            return unsafe withUnsafePointer(to: &provider) { provider in
                unsafe nghttp2_submit_request(engine, nil, fields, count, end ? nil : provider, context)
            }
        }
        // A head that the peer does not accept begins no stream, nor does a connection whose numbers have run out. The user is told
        // once it has nothing on its hands.
        if stream.id < 0 { rejected.append(stream) } else { add(stream) }
        frames.began(stream.id)
        hasOutput()
    }

    /// Sends an interim response, unless so many frames wait to be read that it would only be held.
    func submit(informational head: HTTPHead, on stream: HTTP2Stream) {
        guard isServer, !isClosed, stream.position >= 0, waitingFrames <= maxFrames / 2 else { return }
        let (engine, id) = unsafe (engine, stream.id)
        unsafe HTTP2FieldBlock.lend(head, .response) { fields, count in
            let none = UInt8(NGHTTP2_FLAG_NONE.rawValue)
            unsafe _ = nghttp2_submit_headers(engine, none, id, nil, fields, count, nil)
        }
        hasOutput()
    }

    /// Sends bytes without queueing them, as far as that goes now.
    ///
    /// - Returns: how many went.
    func sendDirectly(_ body: Span<UInt8>, on stream: HTTP2Stream) -> Int {
        guard body.count >= Self.large, !isReading, !isWriting, !isClosed, stream.queuedBytes == 0,
            stream.position >= 0, output.count < Self.maxQueued
        else { return 0 }
        let queued = output.count
        return unsafe body.withUnsafeBufferPointer { bytes in
            unsafe direct = bytes
            directStream = stream
            resumeData(stream)
            write()
            let left = unsafe direct?.count ?? 0
            unsafe direct = nil
            directStream = nil
            if output.count > queued { hasOutput() }
            return bytes.count - left
        }
    }

    /// A stream has more to send.
    func hasData(_ stream: HTTP2Stream) {
        guard !isClosed, stream.position >= 0 else { return }
        resumeData(stream)
        hasOutput()
    }

    /// The message of a stream has come to its end.
    ///
    /// Trailers need no window, so where nothing else waits they do not wait for one either.
    func hasEnd(_ stream: HTTP2Stream) {
        guard stream.output != .queued, stream.queuedBytes == 0, stream.trailers?.count ?? 0 > 0, !isClosed,
            stream.position >= 0, let trailers = stream.removeTrailers()
        else { return hasData(stream) }
        submit(trailers, on: stream.id)
        hasOutput()
    }

    /// Whether the peer accepts the trailers; otherwise the stream is reset, and its user is told when RST_STREAM is written.
    func accepts(_ trailers: HTTPHead, on stream: HTTP2Stream) -> Bool {
        let limit = maxHeadOfPeer
        guard !isServer, limit < .max else { return true }
        let size = unsafe HTTP2FieldBlock.lend(trailers, .requestTrailers) { unsafe HTTP2FieldBlock.size($0, $1) }
        guard size > limit else { return true }
        stream.rejection = .tooLargeForPeer(limit: limit)
        reset(stream, .tooLargeForPeer(limit: limit))
        return false
    }

    private func submit(_ trailers: consuming HTTPHead, on id: Int32) {
        let engine = unsafe engine
        unsafe HTTP2FieldBlock.lend(trailers, isServer ? .responseTrailers : .requestTrailers) { fields, count in
            unsafe _ = nghttp2_submit_trailer(engine, id, fields, count)
        }
        heads.release(trailers)
    }

    private func resumeData(_ stream: HTTP2Stream) {
        guard stream.output == .deferred else { return }
        stream.output = .open
        unsafe _ = nghttp2_session_resume_data(engine, stream.id)
    }

    /// Ends a stream at once.
    func reset(_ stream: HTTP2Stream, _ reason: HTTPReset) {
        guard !isClosed, stream.position >= 0 else { return }
        let code =
            switch reason {
            case .code(let code): code
            case .error: HTTP2Code.protocolError
            case .unprocessed: HTTP2Code.refusedStream
            case .canceled, .connectionLost, .exceeded, .tooLargeForPeer, .shutdown: HTTP2Code.cancel
            }
        unsafe _ = nghttp2_submit_rst_stream(engine, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, code.rawValue)
        stream.wasAbandoned()
        hasOutput()
    }

    /// Since when the peer has taken nothing of what waits on a stream.
    ///
    /// A window that is shut holds the stream itself back. A stream whose window is open waits for its turn in the output.
    func waitsSince(_ stream: HTTP2Stream) -> Instant {
        guard !isClosed, stream.position >= 0 else { return .max }
        let isOpen =
            unsafe nghttp2_session_get_stream_remote_window_size(engine, stream.id) > 0
            && nghttp2_session_get_remote_window_size(engine) > 0
        return isOpen ? lastWritten : stream.progress
    }

    // MARK: Frames

    /// Puts frames into the output until there are none, or enough of them wait.
    func write() {
        guard !isClosed, !isReading, !isWriting else { return }
        isWriting = true
        if !rejected.isEmpty {
            // They may bring more at once.
            let reported = rejected
            rejected = []
            for stream in reported { stream.end(reporting: stream.rejection ?? .unprocessed) }
        }
        while !isClosed, output.count < Self.maxQueued {
            var bytes: UnsafePointer<UInt8>?
            let count = unsafe nghttp2_session_mem_send(engine, &bytes)
            guard count > 0 else {
                // What went out of a queue by way of `sendData` is no bytes here, and is followed by more.
                if count < 0 { failed() }
                break
            }
            unsafe output.append(Span(_unsafeElements: UnsafeBufferPointer(start: bytes, count: count)))
        }
        isWriting = false
        closeIfOver()
    }

    private func failed() {
        close(.abort, reporting: .connectionLost(errno: nil))
    }

    private static var provider: nghttp2_data_provider {
        unsafe nghttp2_data_provider(source: nghttp2_data_source(fd: 0)) { _, id, _, room, flags, _, context in
            unsafe HTTP2Callbacks.call(context) { unsafe $0.nextData(id: id, room: room, flags: flags!) }
        }
    }

    /// How many bytes go into the next DATA frame of a stream, and whether it is the last.
    private func nextData(id: Int32, room: Int, flags: UnsafeMutablePointer<UInt32>) -> Int {
        let count = lend(id) { unsafe nextData(of: $0, room: room, flags: flags) }
        return count ?? Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
    }

    private func nextData(of stream: HTTP2Stream, room: Int, flags: UnsafeMutablePointer<UInt32>) -> Int {
        let isDirect = directStream === stream
        let waiting = isDirect ? unsafe direct?.count ?? 0 : stream.queuedBytes
        let count = min(waiting, room)
        if count == 0, !stream.hasEnded || stream.isReset {
            stream.output = .deferred
            return Int(NGHTTP2_ERR_DEFERRED.rawValue)
        }
        unsafe flags.pointee |= NGHTTP2_DATA_FLAG_NO_COPY.rawValue
        guard stream.hasEnded, count == waiting, !isDirect else { return count }
        unsafe flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
        guard let trailers = stream.removeTrailers() else { return count }
        guard trailers.count > 0 else {
            heads.release(trailers)
            return count
        }
        unsafe flags.pointee |= NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue
        submit(trailers, on: stream.id)
        return count
    }

    /// Writes a DATA frame: its header, and as many bytes as `nextData` said.
    func sendData(id: Int32, header: Span<UInt8>, count: Int) -> Int32 {
        let result = lend(id) { sendData(of: $0, header: header, count: count) }
        return result ?? NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
    }

    private func sendData(of stream: HTTP2Stream, header: Span<UInt8>, count: Int) -> Int32 {
        guard output.count < Self.maxQueued else { return NGHTTP2_ERR_WOULDBLOCK.rawValue }
        // The stream was reset while the frame waited for room: its bytes are released, and RST_STREAM is queued.
        guard !stream.isReset else { return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue }
        output.append(header)
        guard count > 0 else { return 0 }
        if directStream === stream, let bytes = unsafe direct {
            unsafe output.append(Span(_unsafeElements: UnsafeBufferPointer(rebasing: bytes[..<count])))
            unsafe direct = UnsafeBufferPointer(rebasing: bytes[count...])
            stream.progress = now
            return 0
        }
        return stream.moveOutbound(count, to: output) ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
    }

    /// A frame has gone into the output.
    func sent(_ frame: UnsafePointer<nghttp2_frame>) -> Int32 {
        let header = unsafe frame.pointee.hd
        switch UInt32(header.type) {
        case NGHTTP2_DATA.rawValue, NGHTTP2_HEADERS.rawValue:
            let isEnd = header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
            let isData = UInt32(header.type) == NGHTTP2_DATA.rawValue
            let isDrained = lend(header.stream_id) { sent(on: $0, isData: isData, isEnd: isEnd) }
            if isDrained == true { stream(header.stream_id)?.user?.drained() }
        case NGHTTP2_RST_STREAM.rawValue:
            frames.reset(header.stream_id)
            sentReset(id: header.stream_id)
            let code = unsafe HTTP2Code(rawValue: frame.pointee.rst_stream.error_code)
            guard code.blamesPeer else { return 0 }
            // What an upstream sent was wrong; it did not reset the stream.
            guard isServer else {
                stream(header.stream_id)?.isMalformed = true
                return 0
            }
            guard let limit = guardian.count(.madeYouReset, now: now) else { return 0 }
            exceeded(limit)
        case NGHTTP2_GOAWAY.rawValue:
            frames.sentGoaway(last: unsafe frame.pointee.goaway.last_stream_id)
            sentGoAway(unsafe HTTP2Code(rawValue: frame.pointee.goaway.error_code))
        default: break
        }
        return 0
    }

    /// A frame of a message has gone into the output.
    ///
    /// - Returns: whether nothing is left of what the stream's user may be waiting for.
    private func sent(on stream: HTTP2Stream, isData: Bool, isEnd: Bool) -> Bool {
        if stream.output == .queued { stream.output = .open }
        if isData { guardian.sentData() }
        if let reason = stream.laterReset, stream.queuedBytes == 0 {
            stream.resetNow(reason)
            return false
        }
        guard !isEnd else {
            stream.sentEnd()
            if stream.receiving != .ended { respondedEarly(stream) }
            return false
        }
        guard stream.notifiesDrained, stream.queuedBytes == 0 else { return false }
        stream.notifiesDrained = false
        return true
    }

    /// nghttp2 could not send a frame, since the connection does not allow it any more.
    func notSent(_ frame: UnsafePointer<nghttp2_frame>) -> Int32 {
        let header = unsafe frame.pointee.hd
        // Whether nghttp2 tells of the end of such a stream depends on how far it came; here it ends for certain.
        guard !isServer, UInt32(header.type) == NGHTTP2_HEADERS.rawValue,
            let stream = streams.first(where: { $0.id == header.stream_id && $0.output == .queued })
        else { return 0 }
        unsafe _ = nghttp2_session_set_stream_user_data(engine, stream.id, nil)
        remove(stream)
        stream.end(reporting: stream.rejection ?? .unprocessed)
        streamGone(stream)
        return 0
    }
}
