internal import Bytes

/// What has arrived of a message on an HTTP/2 stream while its user wants nothing.
struct HTTP2Inbox {
    /// At most a window of the body.
    var body: ByteQueue?
    var trailers: HTTPHead?
    /// The end has come, and waits behind the body.
    var endIsWaiting = false
    /// Why the stream has ended before its time, which waits behind the body; nil if it has not.
    var reset: HTTPReset?
    /// The user is just being given what waits.
    var isBeingDelivered = false
    /// Why the user wants nothing; empty if it does.
    var pauses: PauseReason = []

    /// Whether nothing of the body waits.
    var isEmpty: Bool { body?.isEmpty ?? true }
}
