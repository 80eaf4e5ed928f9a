internal import Events
internal import Time

/// When a connection is retried where none could be made, and why none could.
///
/// Pure. The pauses are 50 ms, and double up to 1 s.
struct ConnectBackoff {
    static let minPause = 50 * Duration.millisecond
    static let maxPause = Duration.second

    /// Why the last one could not be made.
    private(set) var error: UpstreamError
    private(set) var retryAt: Instant
    private var pause = minPause

    init(after error: UpstreamError, at now: Instant) {
        self.error = error
        retryAt = now + Self.minPause
    }

    /// Another could not be made; one that was begun with the one before it makes the pause no longer.
    mutating func failed(_ error: UpstreamError, at now: Instant) {
        self.error = error
        guard now >= retryAt else { return }
        pause = min(2 * pause, Self.maxPause)
        retryAt = now + pause
    }
}
