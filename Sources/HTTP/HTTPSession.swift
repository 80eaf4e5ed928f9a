/// The state of one connection's protocol.
///
/// Bytes that arrive become what streams are told, and what streams send becomes bytes in an output queue. No I/O: the
/// owner of the connection moves the bytes.
///
/// The owner holds the session and the session its owner: the owner lets go of the session once it is over.
public protocol HTTPSession: AnyObject {
    /// Takes bytes that have arrived.
    ///
    /// - Returns: how many it could use. The rest is to be given again, with what follows it, once more has arrived or
    ///   the owner is told `sessionWantsInput`.
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
}

/// The owner of a session's connection, on either side.
public protocol HTTPSessionOwner: AnyObject {
    /// There are new bytes in the output queue.
    func sessionHasOutput()
    /// The session can use bytes that it left before.
    func sessionWantsInput()
    /// The session is over: what is in the output queue is still to be sent.
    ///
    /// - Parameter lingering: whether the peer may still be sending, so that the connection is better read empty for a
    ///   while than closed at once, which could destroy the last answer on its way.
    func sessionEnded(lingering: Bool)
}

/// The owner of a caller's connection.
public protocol HTTPServerOwner: HTTPSessionOwner {
    /// A request has begun. The owner answers who uses its stream; the head belongs to the user from now on.
    func sessionOpened(_ stream: any HTTPStream, head: HTTPHead, end: Bool) -> any HTTPStreamUser
    /// A request was refused before it began. The owner sends the refusal on the stream; the session ends after it.
    func sessionRefused(_ stream: any HTTPStream, _ fault: HTTPFault)
    /// All exchanges are over and the connection can take another.
    func sessionBecameIdle()
}

/// The owner of a connection to an upstream.
public protocol HTTPClientOwner: HTTPSessionOwner {
    /// An exchange is over, and the connection can take another.
    func sessionBecameIdle()
}
