internal import Events

/// The pauses between attempts to start: 1 s, 2 s, 4 s and so on up to 30 s.
///
/// Pure: who waits has the timer.
struct StartRetry {
    private static let maxPause = 30 * Nanoseconds.second
    private var next = Nanoseconds.second

    /// The time until the next attempt.
    mutating func pause() -> Nanoseconds {
        defer { next = min(next * 2, Self.maxPause) }
        return next
    }
}
