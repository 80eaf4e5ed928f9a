internal import Bytes
internal import CNghttp2

/// How frames that nghttp2 would ignore become errors.
extension HTTP2Session {
    /// Has nghttp2 process bytes of the peer, and stops before each frame in doubt to see whether its stream is open.
    ///
    /// - Returns: how many it has processed: all, unless the session yields; less than 0 if nghttp2 cannot go on.
    func process(_ bytes: Span<UInt8>) -> Int {
        var position = 0
        if longHead != nil {
            let result = processLongHead(bytes, from: &position)
            guard result >= 0, longHead == nil, !isClosed else { return result }
        }
        var processed = position
        var mark = (frames.parser, position)
        while let doubt = frames.next(in: bytes, from: &position) {
            if doubt.longHead == nil, !frames.mayHaveEnded(doubt.stream), isOpen(doubt.stream) { continue }
            // What came before the frame may have begun its stream, or ended it.
            let result = feed(bytes.extracting(processed..<doubt.start))
            guard result >= 0, !isClosed else { return result }
            if yields { return goBack(to: mark, processed + result, bytes) }
            processed = doubt.start
            frames.caughtUp()
            if doubt.isDoubted, !isOpen(doubt.stream) { check(doubt) }
            if let flags = doubt.longHead {
                let result = beginLongHead(bytes, header: doubt.start..<position, flags)
                guard result >= 0, !isClosed else { return result }
                let rest = processLongHead(bytes, from: &position)
                guard rest >= 0, longHead == nil, !isClosed else { return rest }
                processed = position
            }
            mark = (frames.parser, position)
        }
        let result = feed(bytes.extracting(processed...))
        if yields, result >= 0 { return goBack(to: mark, processed + result, bytes) }
        frames.caughtUp()
        return result
    }

    /// Takes the check back to where nghttp2 has paused, from a mark before that.
    private func goBack(to mark: (HTTP2FrameParser, Int), _ processed: Int, _ bytes: Span<UInt8>) -> Int {
        frames.goBack(to: mark.0, in: bytes.extracting(0..<processed), from: mark.1)
        return processed
    }

    /// Begins a head that CONTINUATION follows: nghttp2 gets the header of its first frame.
    private func beginLongHead(_ bytes: Span<UInt8>, header: Range<Int>, _ flags: UInt8) -> Int {
        let result = feed(bytes.extracting(header))
        longHead = HTTP2LongHead(payload: frames.left, flags: flags, limit: limits.head)
        return result
    }

    /// Has nghttp2 process such a head, or a part of it, from a position on, which moves.
    ///
    /// - Returns: The number of bytes if none is left, or less than 0 if nghttp2 cannot go on.
    private func processLongHead(_ bytes: Span<UInt8>, from position: inout Int) -> Int {
        let start = position
        let output = acquireQueue()
        defer { release(output) }
        while true {
            guard let step = longHead?.next(bytes, from: &position, into: output) else { return bytes.count }
            let result = feed(output.readable)
            output.removeAll()
            guard result >= 0, !isClosed else { return result }
            switch step {
            case .field: longHead?.noteField()
            case .malformed:
                terminate(.compressionError)
                return Int(NGHTTP2_ERR_HEADER_COMP.rawValue)
            case .more:
                if longHead?.hasEnded == true { longHead = nil }
                frames.skip(bytes.extracting(0..<position), from: start)
                frames.caughtUp()
                return bytes.count
            }
        }
    }

    private func feed(_ bytes: Span<UInt8>) -> Int {
        let result = unsafe bytes.withUnsafeBufferPointer {
            unsafe nghttp2_session_mem_recv(engine, $0.baseAddress, $0.count)
        }
        guard yields, result == bytes.count else { return result }
        // Paused behind the last byte: nothing would be left to be given again.
        yields = false
        let more = unsafe nghttp2_session_mem_recv(engine, nil, 0)
        return more < 0 ? more : result
    }

    private func isOpen(_ id: Int32) -> Bool { lend(id) { _ in } != nil }

    /// A frame has come on a stream that is not open.
    private func check(_ doubt: HTTP2FrameCheck.Doubt) {
        switch frames.error(of: doubt) {
        case .connection(let code):
            // From now on nghttp2 ignores what comes.
            terminate(code)
        case .stream(let code):
            frames.reset(doubt.stream)
            unsafe _ = nghttp2_submit_rst_stream(engine, UInt8(NGHTTP2_FLAG_NONE.rawValue), doubt.stream, code.rawValue)
        case nil:
            guard doubt.isEmpty, let limit = guardian.count(.emptyData, now: now) else { return }
            exceeded(limit)
        }
    }
}
