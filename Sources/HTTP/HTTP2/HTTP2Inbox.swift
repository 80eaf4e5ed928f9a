internal import Bytes

/// What has arrived of a message on an HTTP/2 stream while its user wants nothing.
struct HTTP2Inbox {
    /// At most a window of the body.
    var body: ByteQueue?
    var trailers: HTTPHead?
    /// The end has come, and waits behind the body.
    var endIsWaiting = false
    /// The reset to report after the body, or `nil` if the stream was not reset.
    var reset: HTTPReset?
    /// The user is just being given what waits.
    var isBeingDelivered = false
    /// Why the user wants nothing; empty if it does.
    var pauses: PauseReason = []

    /// Whether nothing of the body waits.
    var isEmpty: Bool { body?.isEmpty ?? true }
}
