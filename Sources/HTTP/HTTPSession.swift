package import Time

/// The state of one connection's protocol.
///
/// Bytes that arrive become what streams are told, and what streams send becomes bytes in an output queue. No I/O: the
/// owner of the connection moves the bytes.
///
/// The owner holds the session and the session its owner: the owner lets go of the session once it is over, and
/// of a caller's of HTTP/1.1 between two calls.
package protocol HTTPSession: AnyObject {
    /// Takes bytes that have arrived.
    ///
    /// - Returns: how many it could use. The rest is to be given again, with what follows it, once more has arrived or
    ///   the owner is told `sessionNeedsInput`.
    func receive(_ bytes: Span<UInt8>) -> Int
    /// Whether the bytes that it leaves could be used, but later; else they are not whole yet.
    var isHoldingBack: Bool { get }
    /// Takes the end of what the peer sends, after the bytes; `errno` says why, if it was not in order.
    func receiveEnd(errno: Int32?)
    /// The output queue has been taken by the peer; told every time, since a session may hold back until then.
    func outputDrained()
    /// Lets the exchanges under way come to their end and begins no new ones.
    func drain()
    /// Whether an exchange is under way.
    var isBusy: Bool { get }
    /// Puts what streams have sent into the output queue, as far as it has not got there already.
    ///
    /// Called when the output is about to be sent, once a turn.
    func fillOutput()
}

/// The session of a caller's connection.
package protocol HTTPServerSession: HTTPSession {
    /// Whether a head has come in part.
    var isReadingHead: Bool { get }
    /// Has the next response say that the connection closes after it, if the version of HTTP has a word for that.
    ///
    /// Without an exchange the connection stays open, for one more.
    func announceClose()
    /// Rejects a request whose head did not arrive in time.
    func headTimedOut()
    /// The bytes that the session holds of a head that has come in part, beside those that it leaves to its owner.
    var unfinishedHeadBytes: Int { get }
    /// Rejects a request for whose head there is no memory, or ends a call whose trailers there is none for; in HTTP/1.1
    /// the connection ends.
    func rejectHead()
    /// Ends the exchanges whose peer has taken nothing of what waits for it since `time`.
    func endStalled(since time: Instant)
    /// Rejects what is still to come of a request whose caller has sent nothing of it for as long as it may.
    func timeOutBody(of stream: any HTTPStream)
    /// Rejects what is still to come of requests that were answered at or before `time`.
    ///
    /// - Returns: whether there are others that were answered early.
    func endDiscarding(since time: Instant) -> Bool
    /// Ends the exchanges under way, which their users may still respond to, and with them the connection.
    func abandon()
    /// Calls `body` with the stream of each exchange, and with its user as long as it has one.
    func forEachExchange(_ body: (any HTTPStream, (any HTTPStreamUser)?) -> Void)
}

/// The session of a connection to an upstream.
package protocol HTTPClientSession: HTTPSession {
    /// Whether the peer has shown that it speaks the protocol, as far as it says so before it is asked something.
    var isReady: Bool { get }
    /// Whether what the peer has sent is another protocol altogether.
    var isForeign: Bool { get }
    /// How many more exchanges can be begun now.
    var room: Int { get }
    /// Whether so much waits for the users of exchanges that others had better go by another connection.
    var holdsMuch: Bool { get }
    /// Whether none will be begun any more: the connection ends with those under way.
    var isRetired: Bool { get }
    /// Asks the peer for a sign of life, if the protocol has one.
    ///
    /// - Returns: false if the one asked for before has not come.
    func ping() -> Bool
    /// Whether a sign of life has been asked for and has not come.
    var isPinging: Bool { get }
    /// Begins an exchange; there must be room. What arrives is told to `user`.
    func open(for user: any HTTPStreamUser) -> any HTTPStream
}

/// How a session leaves its connection.
package enum SessionEnd: Equatable, Sendable {
    /// What is in the output queue is sent, and the connection closed.
    case orderly
    /// Likewise, but the peer may still be sending: the connection is read empty for a while, since closing it at once
    /// could destroy the last response on its way.
    case lingering
    /// The output queue is sent, and the connection reset, so that the peer cannot take those bytes for the whole.
    case abort
}

/// The owner of a session's connection, on either side.
package protocol HTTPSessionOwner: AnyObject {
    /// There are new bytes in the output queue.
    func sessionHasOutput()
    /// Bytes of a body go out behind the output queue; large ones can be sent at once, without a copy of them.
    func sessionSends(_ body: Span<UInt8>)
    /// The session can use bytes that it left before.
    func sessionNeedsInput()
    /// The session can use bytes that it left, but others should get their turn before.
    func sessionYields()
    /// Whether so much has been done in this turn that others should get theirs.
    var hasRunLong: Bool { get }
    /// The session is over.
    func sessionEnded(_ end: SessionEnd)
    /// The peer went beyond a limit of HTTP/2, and the connection ends, or the request is rejected.
    func sessionExceeded(_ limit: HTTP2Limit)
    /// The monotonic time.
    var now: Instant { get }
    /// Since when the peer has taken nothing of what waits to be sent; the end of time if nothing waits.
    var lastWritten: Instant { get }
}

/// The owner of a caller's connection.
package protocol HTTPServerOwner: HTTPSessionOwner {
    /// A request has begun. The owner returns who uses its stream; the head belongs to the user from now on.
    func sessionOpened(_ stream: any HTTPStream, head: HTTPHead, end: Bool) -> any HTTPStreamUser
    /// A request was rejected before it began. The owner sends the rejection on the stream, which ends after it.
    ///
    /// The head is what has come of it; it is only lent for the call.
    func sessionRejected(_ stream: any HTTPStream, _ error: HTTPError, head: HTTPHead?)
    /// A request has been answered before it was complete, and what is still to come of it is read and thrown away.
    ///
    /// The owner sees to it that this does not take for ever.
    func sessionDiscards()
    /// All exchanges are over and the connection can take another.
    func sessionBecameIdle()
}

/// The owner of a connection to an upstream.
package protocol HTTPClientOwner: HTTPSessionOwner {
    /// An exchange is over, or the peer allows more than before: `isReady`, `room`, `holdsMuch` or `isBusy` may have changed.
    func sessionHasRoom()
    /// Called when the session has sent so many resets that the peer may end the connection.
    func sessionSpentResets()
}
