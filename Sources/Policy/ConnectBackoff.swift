package import Time

/// When a connection is retried after none could be made.
///
/// Pure. The pauses are 50 ms, and double up to 1 s.
package struct ConnectBackoff: Sendable {
    /// The first pause.
    package static let minPause = 50 * Duration.millisecond
    /// The longest pause.
    package static let maxPause = Duration.second

    /// When the next one may be tried.
    package private(set) var retryAt: Instant
    private var pause = minPause

    /// Makes the back-off that follows the first connection that could not be made.
    package init(at now: Instant) {
        retryAt = now + Self.minPause
    }

    /// Another could not be made; one that was begun with the one before it makes the pause no longer.
    package mutating func failed(at now: Instant) {
        guard now >= retryAt else { return }
        pause = min(2 * pause, Self.maxPause)
        retryAt = now + pause
    }
}
