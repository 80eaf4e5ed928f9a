internal import Events
internal import Time

/// The pauses between attempts to start: 1 s, 2 s, 4 s and so on up to 30 s.
///
/// Pure: who waits has the timer.
struct StartRetry {
    private static let maxPause = 30 * Duration.second
    private var next = Duration.second

    /// The time until the next attempt.
    mutating func pause() -> Duration {
        defer { next = min(2 * next, Self.maxPause) }
        return next
    }
}
