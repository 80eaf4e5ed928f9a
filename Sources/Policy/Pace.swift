public import Time

/// Lets bytes go on at a rate.
///
/// Pure: whoever asks says what time it is.
public struct Pace: Sendable {
    /// Timers are no finer; what is less adds up until it is worth one.
    private static let minPause = 10 * Duration.millisecond

    /// It holds nothing: all bytes go on loan, and wait until that is paid back.
    private var bucket: TokenBucket

    /// Makes a pace at which nothing waits yet.
    public init(bytesPerSecond: Int) {
        bucket = TokenBucket(bytesPerSecond, per: .second, burst: 0)
    }

    /// How long so many bytes wait that come at `now`.
    public mutating func wait(for bytes: Int, at now: Instant) -> Duration {
        bucket.lend(bytes, at: now)
        let wait = bucket.wait(for: 0)
        return wait < Self.minPause ? .zero : wait
    }
}
