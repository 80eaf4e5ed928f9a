internal import HTTP

/// The counters of the events of an upstream that the metrics have.
struct UpstreamEvents {
    /// Counts a limit of HTTP/2 that the upstream exceeded.
    let exceeded: (HTTP2Limit) -> Void
    /// Counts a connection that begins no more calls because callers canceled too many on it.
    let retired: () -> Void
    /// Counts an address that stays in because of `eject.share`.
    let shareReached: () -> Void

    /// The events of an upstream of Martlet's own, which nobody counts.
    static var uncounted: UpstreamEvents { UpstreamEvents(exceeded: { _ in }, retired: {}, shareReached: {}) }
}
