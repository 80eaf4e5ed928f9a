internal import Events
internal import Time

/// How long `MemoryRelief` waits between two rounds: twice as long after each round that finds nothing to end.
struct ReliefPace {
    private static let maxPause = Duration.second

    private var pause = Duration.zero
    /// What was held in the last round, if that found nothing to end.
    private var heldInVain: Int?

    /// A round has ended calls, or there is no need for one.
    ///
    /// - Parameter usual: how long it takes to free what a round ends.
    /// - Returns: how long the next round is waited for.
    mutating func freed(usual: Duration) -> Duration {
        self = ReliefPace()
        return usual
    }

    /// A round has found nothing to end.
    ///
    /// - Parameters:
    ///   - held: the bytes that are held.
    ///   - usual: how long it takes to free what a round ends.
    /// - Returns: how long the next round is waited for.
    mutating func foundNothing(holding held: Int, usual: Duration) -> Duration {
        heldInVain = held
        pause = min(max(2 * pause, usual), Self.maxPause)
        return pause
    }

    /// Whether so much more is held than in a round that found nothing that the next one is due: a 16th of the limit.
    func isOvertaken(holding held: Int, limit: Int) -> Bool {
        heldInVain.map { held - $0 > limit / 16 } ?? false
    }
}
