internal import Policy
internal import Time

/// The number of RST_STREAM frames that a connection to an upstream may send before no other call begins on it.
///
/// Callers share the connection, and a server that counts resets ends it for all of them. Each limit is below the defaults of
/// the servers beside it.
///
/// ```
/// resets              100, and 3 a second            Netty: 200 in 30 s. Jetty: 128 in 1 s. nghttp2: 1000, and 33 a second.
/// early resets        15, and 16 a second            h2: 20 of streams that its application has not accepted.
/// premature resets    200, and 2/5 of all streams    Envoy: 250, and 1/2 of all streams.
/// ```
///
/// Early and premature resets come before the response, within an age of the stream. h2's application accepts a stream as soon
/// as it runs; until then, resets of the burst and of the rate are pending together, and the one beyond the budget with them.
///
/// Go counts handlers that run on after a reset, 1250 of them, and nginx counts only the streams that it rejects. A pure value.
struct HTTP2ResetBudget {
    static let burst = 100
    static let perSecond = 3
    static let earlyBurst = 15
    static let earlyPerSecond = 16
    /// The age at which the application of a server has accepted a stream.
    static let earlyAge = Duration.milliseconds(250)
    private static let prematureTotal = 200
    /// The age at which a stream without a response is not reset prematurely.
    static let prematureAge = Duration.seconds(2)

    private var resets = TokenBucket(perSecond, per: .second, burst: burst)
    private var earlyResets = TokenBucket(earlyPerSecond, per: .second, burst: earlyBurst)
    private var prematureCount = 0
    private var closedCount = 0
    /// Whether a reset has exceeded the budget.
    private(set) var isSpent = false

    /// Counts a stream that has closed, reset or not.
    mutating func countClosed() { closedCount += 1 }

    /// Counts a reset.
    ///
    /// - Parameters:
    ///   - now: The time of the reset.
    ///   - unansweredSince: The time at which the request was sent, or `nil` if it has a response.
    /// - Returns: Whether the reset is the first one beyond the budget.
    mutating func spend(at now: Instant, unansweredSince: Instant?) -> Bool {
        guard !isSpent else { return false }
        isSpent = !resets.spend(at: now)
        if let unansweredSince, !isSpent { isSpent = exceeds(at: now, age: now - unansweredSince) }
        return isSpent
    }

    private mutating func exceeds(at now: Instant, age: Duration) -> Bool {
        if age < Self.earlyAge, !earlyResets.spend(at: now) { return true }
        guard age < Self.prematureAge else { return false }
        prematureCount += 1
        return prematureCount >= Self.prematureTotal && prematureCount * 5 >= closedCount * 2
    }
}
