internal import Policy
internal import Time

/// The number of RST_STREAM frames that a connection to an upstream may send before no other call begins on it.
///
/// Callers share the connection, and a server that counts resets ends it for all of them. Each limit is below the defaults of
/// the servers beside it. An early reset is one that the server may take for an attack: it comes before the response.
///
/// ```
/// resets          100, and 3 a second            Netty: 200 in 30 s. Jetty: 128 in 1 s. nghttp2: 1000, and 33 a second.
/// early resets    16, and 16 a second            h2: 20 of which its application has accepted none.
/// early resets    200, and 2/5 of all streams    Envoy: 250, and 1/2 of all streams.
/// ```
///
/// Go counts handlers that run on after a reset, 1250 of them, and nginx counts only the streams that it rejects. A pure value.
struct HTTP2ResetBudget {
    static let burst = 100
    static let perSecond = 3
    static let earlyBurst = 16
    static let earlyPerSecond = 16
    /// The age at which a stream without a response has been accepted by its server.
    static let earlyAge = Duration.seconds(2)
    private static let earlyTotal = 200

    private var resets = TokenBucket(perSecond, per: .second, burst: burst)
    private var earlyResets = TokenBucket(earlyPerSecond, per: .second, burst: earlyBurst)
    private var earlyCount = 0
    private var closedCount = 0
    /// Whether a reset has come that the budget did not have.
    private(set) var isSpent = false

    /// Counts a stream that has closed, reset or not.
    mutating func countClosed() { closedCount += 1 }

    /// Counts a reset.
    ///
    /// - Parameters:
    ///   - now: The time of the reset.
    ///   - begun: The time at which the stream began, or `nil` if it has a response.
    /// - Returns: Whether the reset is the first one beyond the budget.
    mutating func spend(at now: Instant, begun: Instant?) -> Bool {
        guard !isSpent else { return false }
        let isEarly = begun.map { now - $0 < Self.earlyAge } ?? false
        isSpent = !resets.spend(at: now) || isEarly && exceedsEarlyLimit(at: now)
        return isSpent
    }

    private mutating func exceedsEarlyLimit(at now: Instant) -> Bool {
        earlyCount += 1
        guard earlyResets.spend(at: now) else { return true }
        return earlyCount >= Self.earlyTotal && earlyCount * 5 >= closedCount * 2
    }
}
