public import Time

/// How long a request waits before it is retried.
///
/// Pure: whoever asks brings the number of retries and chance.
public struct RetryDelay: Equatable, Sendable {
    /// How the time grows.
    public let strategy: RetryStrategy
    /// What it is counted in.
    public let unit: Duration
    /// The longest time; nil for none.
    public let cap: Duration?
    /// The share of the time that is up to chance, 0 to 1.
    public let jitter: Double

    /// Makes a delay; `unit` counts only for a strategy that grows.
    public init(
        _ strategy: RetryStrategy,
        unit: Duration = .second,
        cap: Duration? = nil,
        jitter: Double = 0
    ) {
        self.strategy = strategy
        self.unit = unit
        self.cap = cap
        self.jitter = jitter
    }

    /// Says how long to wait before the request is retried.
    ///
    /// - Parameters:
    ///   - retries: how often it has been retried already, 0 for the first time.
    ///   - chance: a random number from 0 to 1; it takes off that share of what `jitter` leaves to it.
    /// - Returns: the time; never negative.
    public func time(after retries: Int, chance: Double) -> Duration {
        let time = max(.zero, min(strategy.delay(after: retries, unit: unit), cap ?? .max))
        let share = min(1, max(0, jitter)) * min(1, max(0, chance))
        return share > 0 ? time.scaled(by: 1 - share) : time
    }
}
