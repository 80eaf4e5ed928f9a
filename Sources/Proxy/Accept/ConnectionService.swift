package import Events
package import HTTP
package import Time

/// Serves the requests of accepted connections.
package protocol ConnectionService: AnyObject {
    /// A request has begun; returns who uses its stream. The head belongs to the user from now on.
    func open(_ stream: any HTTPStream, head: HTTPHead, end: Bool, from peer: Peer) -> any HTTPStreamUser
    /// A request was rejected before it began; the service sends the rejection. The head is what has come of it.
    func reject(_ stream: any HTTPStream, _ error: HTTPError, head: HTTPHead?)
    /// A caller went beyond a limit of HTTP/2.
    func exceeded(_ limit: HTTP2Limit, by peer: Peer)
    /// Called when a connection of HTTP/1.1 ends because its caller took nothing of what waited for it.
    func stalled(_ peer: Peer)
    /// A caller did not finish a head for which there is no memory.
    func outOfMemory(_ peer: Peer)
    /// TLS with a caller has failed; says why.
    func tlsFailed(_ reason: String, with peer: Peer)
    /// How long a head may take to arrive; nil for ever.
    var headTimeout: Duration? { get }
    /// The longest pause in a request body that its caller owes; no limit if nil.
    var bodyTimeout: Duration? { get }
    /// How long a connection may be idle; nil for ever.
    var idleTimeout: Duration? { get }
    /// How long a caller may take nothing of the last bytes on a connection; nil for ever.
    var stalledTimeout: Duration? { get }
    /// How long a caller may take nothing of a response that goes on; no limit if nil.
    var unreadTimeout: Duration? { get }
    /// What is taken in of a caller.
    var limits: HTTPLimits { get }
    /// Whether a connection without a call is closed for a new one where there are too many.
    var makesRoom: Bool { get }
    /// Whether callers have to come in TLS.
    var isSecure: Bool { get }
    /// Whether the systemd units of callers matter.
    var asksForUnits: Bool { get }
    /// What carries the bytes of an accepted connection: itself, or TLS over it.
    func secured(_ connection: any Transport, context: WireContext) -> any Transport
}

extension ConnectionService {
    /// It is not; the new one is rejected.
    package var makesRoom: Bool { false }

    /// That of the last bytes.
    package var unreadTimeout: Duration? { stalledTimeout }

    /// They do not.
    package var isSecure: Bool { false }

    /// They do not.
    package var asksForUnits: Bool { false }

    /// Nothing, where there is no limit.
    package func outOfMemory(_ peer: Peer) {}

    /// Nothing, on a listener that has no TLS.
    package func tlsFailed(_ reason: String, with peer: Peer) {}

    /// The connection itself.
    package func secured(_ connection: any Transport, context: WireContext) -> any Transport { connection }
}
