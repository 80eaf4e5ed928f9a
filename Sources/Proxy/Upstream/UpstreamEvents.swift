internal import HTTP
internal import Time

/// The counters of an upstream's events in the metrics.
struct UpstreamEvents {
    /// Counts a limit of HTTP/2 that the upstream exceeded.
    let exceeded: (HTTP2Limit) -> Void
    /// Counts a connection that begins no more calls because callers canceled too many on it.
    let retired: () -> Void
    /// Counts an address that stays in because of `eject.share`.
    let shareReached: () -> Void
    /// Counts a look-up that found more addresses than `limits.addresses`.
    let addressesExceeded: () -> Void
    /// Ends stalled calls that hold connections others wait for; returns since when the first of the others stalls.
    var makeRoom: (RoomRequest) -> Instant = { _ in .max }

    /// The counters of one of Martlet's own upstreams, which is not in the metrics.
    static var uncounted: UpstreamEvents {
        UpstreamEvents(exceeded: { _ in }, retired: {}, shareReached: {}, addressesExceeded: {})
    }
}
