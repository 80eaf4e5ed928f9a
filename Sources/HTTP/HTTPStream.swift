package import Time

/// Why a stream does not want to be given more of what arrives, for the time being.
package struct PauseReason: OptionSet, Sendable {
    package let rawValue: UInt8

    /// Makes a set of reasons from its bits.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The other side of the call takes bytes more slowly than this one sends them.
    package static let slowPeer = PauseReason(rawValue: 1)
    /// There is no upstream connection yet that could take them.
    package static let noUpstream = PauseReason(rawValue: 2)
    /// So much waits in the chain of the call that it shall not become more.
    package static let held = PauseReason(rawValue: 4)
    /// The file that keeps the request for a retry is behind, or a retry reads it.
    package static let spool = PauseReason(rawValue: 8)
}

/// Which HTTP a connection speaks.
public enum HTTPVersion: UInt8, Sendable {
    case http1, http2
}

/// Why a stream ended before its time.
package enum HTTPReset: Error, Equatable, Sendable {
    /// The side that resets does not want it any more.
    case canceled
    /// The peer, or the one who resets, gave this code of HTTP/2.
    case code(HTTP2Code)
    /// The peer has surely not processed the request, so that it may be retried (RFC 9113 §8.7).
    case unprocessed
    /// The connection is gone. The errno is there if the system gave one.
    case connectionLost(errno: Int32?)
    /// The peer went beyond a limit of HTTP/2, and the connection ended for it.
    case exceeded(HTTP2Limit)
    /// The head or the trailers are larger than the peer accepts, whose limit is this many bytes, and were not sent.
    case tooLargeForPeer(limit: Int)
    /// The message was malformed.
    case error(HTTPError)
    /// The process ends and waits no longer.
    case shutdown

    /// Whether queued bytes are sent before the reset of a response; not where it is their memory that is needed.
    var keepsQueuedBytes: Bool { self != .code(.enhanceYourCalm) }
}

/// One exchange on a connection, as the one who uses it sees it: HTTP/1.1 has one at a time, HTTP/2 many at once.
///
/// The same on the side of the caller, where a request arrives and a response is sent, and on the side of the upstream,
/// where it is the other way round. Sending never waits: what the peer does not take yet is queued, and `queuedBytes`
/// says how much; the user holds back its source while that is too much. All of it belongs to one thread.
///
/// The exchange is over when both messages have ended, or by a reset, and the user lets go of the stream then: an
/// HTTP/1.1 session uses the same object for its next exchange, which may be that of another connection.
package protocol HTTPStream: AnyObject {
    /// The HTTP that the connection speaks.
    var version: HTTPVersion { get }
    /// Sends an interim response (1xx); on the caller's side only.
    func send(informational head: HTTPHead)
    /// Sends the head; `end` says that neither body nor trailers follow.
    func send(head: HTTPHead, end: Bool)
    /// Sends bytes of the body.
    func send(body: Span<UInt8>)
    /// Ends the message, with trailers where the framing can carry them.
    func sendEnd(trailers: HTTPHead?)
    /// Ends the exchange in both directions; the user is told nothing any more.
    ///
    /// A response is broken off behind the bytes of it that are queued, if the caller takes them.
    func reset(_ reason: HTTPReset)
    /// Stops giving the user what arrives, until every reason is gone; with HTTP/1.1 an end that comes together with the
    /// last bytes of a body is still told.
    func pause(_ reason: PauseReason)
    /// Takes a reason away.
    func resume(_ reason: PauseReason)
    /// How many bytes wait to be taken by the peer.
    var queuedBytes: Int { get }
    /// Whether so much waits on the connection as a whole that the user should hold back before its own share is large.
    var isCrowded: Bool { get }
    /// How many bytes are set aside for what waits, either for the peer or for the user.
    var heldBytes: Int { get }
    /// Since when the peer has taken none of the bytes that wait for it; `.max` if none wait.
    var waitsSince: Instant { get }
    /// Whether the user has paused the stream, or has still to receive bytes from before.
    var isPaused: Bool { get }
    /// Whether the end of the message has come and waits for the user, behind what the user has still to receive.
    var holdsEnd: Bool { get }
    /// Whether a caller that asked for `100 Continue` has been sent it; true also if no caller asks.
    var hasContinued: Bool { get }
    /// Whether the response is complete and the rest of the request is still passed on.
    ///
    /// On the caller's side that goes to the user of the stream, on the upstream's side to a service in this process.
    var isReadOn: Bool { get }
}

extension HTTPStream {
    package var isPaused: Bool { false }
    package var holdsEnd: Bool { false }
    package var hasContinued: Bool { true }
    package var isReadOn: Bool { false }
}

/// Who uses a stream: is told what arrives on it.
///
/// The head of a response belongs to the user from then on; interim heads and trailers are only lent for the call.
package protocol HTTPStreamUser: AnyObject {
    /// An interim response (1xx) has come; on the upstream's side only.
    func received(informational head: HTTPHead)
    /// The head of the response has come; on the upstream's side only, since a request's head is what opens a stream.
    func received(head: HTTPHead, end: Bool)
    /// Bytes of the body have come.
    func received(body: Span<UInt8>)
    /// The message is complete.
    func receivedEnd(trailers: HTTPHead?)
    /// The stream is over before its time; nothing else will be told.
    ///
    /// On the caller's side, the response to a request whose body turned out malformed can still be sent, before this
    /// returns.
    func wasReset(_ reason: HTTPReset)
    /// The peer has taken what was queued.
    func drained()
    /// Whether much of what the user was given waits where it has gone to: it is not given more at a time then.
    var isBehind: Bool { get }
    /// How many bytes the user has set aside for the exchange, or has others set aside, beside its own stream.
    var heldBytes: Int { get }
    /// Since when nothing has moved of some bytes that the user holds; `.max` if there are none.
    var waitsSince: Instant { get }
    /// Returns the time since which the caller has sent nothing of a body that it owes, or `.max` if the caller owes none.
    ///
    /// The time is that of the first look which found the body as it is now. On the caller's side only.
    func bodyWaitsSince(at now: Instant) -> Instant
    /// Called when the exchange ends because the caller has read nothing of the response for as long as it may.
    func wentUnread()
    /// Releases what the user keeps only for the case that something goes wrong.
    func releaseSpares()
    /// The exchange is to end, since it holds memory that others need.
    func shed()
    /// Whether received bytes that wait for the user are delivered before a reset is reported; on the upstream's side only.
    var needsInputBeforeReset: Bool { get }
    /// Whether the user reads the rest of the request after its response is complete; on the caller's side only.
    ///
    /// Such a user is told the end of the request, or by `wasReset` that nothing else comes.
    var readsOn: Bool { get }
}

extension HTTPStreamUser {
    package var isBehind: Bool { false }
    package var heldBytes: Int { 0 }
    package var waitsSince: Instant { .max }
    package func bodyWaitsSince(at now: Instant) -> Instant { .max }
    package func wentUnread() {}
    package func releaseSpares() {}
    package func shed() {}
    package var needsInputBeforeReset: Bool { true }
    package var readsOn: Bool { false }
}
