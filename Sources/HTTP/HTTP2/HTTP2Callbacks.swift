private import CNghttp2

/// What nghttp2 calls, one table for all sessions; the context of a call is the session.
///
/// A callback is called from within `nghttp2_session_mem_recv` or `nghttp2_session_mem_send`, neither of which may be
/// called again meanwhile.
enum HTTP2Callbacks {
    /// The table; never changed once it is made.
    nonisolated(unsafe) static let table: OpaquePointer = {
        var made: OpaquePointer?
        unsafe nghttp2_session_callbacks_new(&made)
        let table = unsafe made!
        unsafe setReading(table)
        unsafe setWriting(table)
        return unsafe table
    }()

    /// The options of sessions; never changed once they are made.
    nonisolated(unsafe) static let options = unsafe makeOptions()

    private static func makeOptions() -> OpaquePointer {
        var made: OpaquePointer?
        unsafe nghttp2_option_new(&made)
        let options = unsafe made!
        // Windows open by what the other side of a call has taken, and no sooner.
        unsafe nghttp2_option_set_no_auto_window_update(options, 1)
        // Callers and servers of gRPC send spaces around a value as they are, although RFC 9113 §8.2.1 forbids it.
        unsafe nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation(options, 1)
        // What it was that was too much is for the flood guard to say, so it is to be the first to notice.
        unsafe nghttp2_option_set_stream_reset_rate_limit(options, 1 << 32, 1 << 32)
        unsafe nghttp2_option_set_max_continuations(options, .max)
        unsafe nghttp2_option_set_max_outbound_ack(options, 2000)
        unsafe nghttp2_option_set_max_send_header_block_length(options, 1 << 25)
        unsafe nghttp2_option_set_max_reserved_remote_streams(options, 0)
        // Only frames of types that somebody wants to unpack are told of, and counted.
        for type in UInt8(NGHTTP2_CONTINUATION.rawValue) + 1...255 {
            unsafe nghttp2_option_set_user_recv_extension_type(options, type)
        }
        return unsafe options
    }

    private static func setReading(_ table: OpaquePointer) {
        unsafe nghttp2_session_callbacks_set_on_begin_frame_callback(table) { _, header, context in
            unsafe HTTP2Callbacks.call(context) { unsafe $0.beganFrame(type: header!.pointee.type) }
        }
        unsafe nghttp2_session_callbacks_set_unpack_extension_callback(table) { _, _, _, _ in
            NGHTTP2_ERR_CANCEL.rawValue
        }
        unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(table) { _, frame, context in
            unsafe HTTP2Callbacks.call(context) { unsafe $0.beganHead(id: frame!.pointee.hd.stream_id) }
        }
        unsafe nghttp2_session_callbacks_set_on_header_callback(table) {
            _,
            _,
            name,
            nameCount,
            value,
            valueCount,
            _,
            context in
            unsafe HTTP2Callbacks.call(context) {
                unsafe $0.received(
                    name: Span(_unsafeElements: UnsafeBufferPointer(start: name, count: nameCount)),
                    value: Span(_unsafeElements: UnsafeBufferPointer(start: value, count: valueCount))
                )
            }
        }
        unsafe nghttp2_session_callbacks_set_on_invalid_header_callback(table) { _, _, _, _, _, _, _, _ in
            // The message is malformed, and so the stream is reset: passing it on without the field would be guessing.
            NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
        }
        unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(table) { _, _, id, bytes, count, context in
            unsafe HTTP2Callbacks.call(context) {
                unsafe $0.received(
                    body: Span(_unsafeElements: UnsafeBufferPointer(start: bytes, count: count)),
                    id: id
                )
            }
        }
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(table) { _, frame, context in
            unsafe HTTP2Callbacks.call(context) { unsafe $0.received(frame!) }
        }
        unsafe nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(table) { _, frame, _, context in
            unsafe HTTP2Callbacks.call(context) { unsafe $0.receivedInvalid(frame!.pointee.hd) }
        }
        unsafe nghttp2_session_callbacks_set_on_stream_close_callback(table) { _, id, code, context in
            unsafe HTTP2Callbacks.call(context) { $0.closed(id: id, code: HTTP2Code(rawValue: code)) }
        }
    }

    private static func setWriting(_ table: OpaquePointer) {
        unsafe nghttp2_session_callbacks_set_send_data_callback(table) {
            _,
            frame,
            header,
            count,
            _,
            context in
            unsafe HTTP2Callbacks.call(context) {
                unsafe $0.sendData(
                    id: frame!.pointee.hd.stream_id,
                    header: Span(_unsafeElements: UnsafeBufferPointer(start: header, count: 9)),
                    count: count
                )
            }
        }
        unsafe nghttp2_session_callbacks_set_on_frame_send_callback(table) { _, frame, context in
            unsafe HTTP2Callbacks.call(context) { unsafe $0.sent(frame!) }
        }
        unsafe nghttp2_session_callbacks_set_on_frame_not_send_callback(table) { _, frame, _, context in
            unsafe HTTP2Callbacks.call(context) { unsafe $0.notSent(frame!) }
        }
    }

    /// Lends the session that a call is for, without holding it: whoever made nghttp2 call holds it meanwhile.
    @inline(__always)
    static func call<Result>(
        _ context: UnsafeMutableRawPointer?,
        _ body: (HTTP2Session) -> Result
    ) -> Result {
        unsafe Unmanaged<HTTP2Session>.fromOpaque(context!)._withUnsafeGuaranteedRef(body)
    }
}
