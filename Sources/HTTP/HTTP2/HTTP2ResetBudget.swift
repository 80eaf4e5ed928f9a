internal import Policy
internal import Time

/// The number of RST_STREAM frames that a connection to an upstream may send before no other call begins on it.
///
/// Callers share the connection, and a server that counts resets ends it for all of them. Netty has the strictest well-known
/// default, 200 in 30 seconds. A full bucket and what comes in within that time are less. nghttp2 allows a burst of 1000 and 33 each
/// second, Envoy 500 streams. A pure value.
struct HTTP2ResetBudget {
    static let burst = 100
    static let perSecond = 3
    private var bucket = TokenBucket(perSecond, per: .second, burst: burst)
    /// Whether a reset has come that the budget did not have.
    private(set) var isSpent = false

    /// Counts a reset.
    ///
    /// - Returns: Whether the reset is the first one beyond the budget.
    mutating func spend(at now: Instant) -> Bool {
        guard !isSpent, !bucket.spend(at: now) else { return false }
        isSpent = true
        return true
    }
}
