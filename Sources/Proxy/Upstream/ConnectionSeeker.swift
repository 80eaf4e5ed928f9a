internal import Events
internal import HTTP
internal import Time

/// What asks an upstream for a connection: an attempt of a call, or a request of our own.
protocol ConnectionSeeker: AnyObject {
    /// The version of HTTP that is asked for, if the upstream speaks it.
    var version: HTTPVersion { get }
    /// Whether no other version will do.
    var needsHTTP2: Bool { get }
    /// Until when it waits for a connection that cannot be made now; the last time there is if nothing else ends that.
    var waitsUntil: Instant { get }
    /// Whether it wants nothing any more.
    var isOver: Bool { get }

    /// There is a connection with room.
    func connected(_ connection: UpstreamConnection)
    /// There will be none.
    func failed(_ error: UpstreamError)
}
