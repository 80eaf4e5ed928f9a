internal import Events
internal import Time

/// What became of the loads of the configuration.
final class ReloadHistory {
    /// The number of the configuration in use.
    private(set) var generation = 0
    /// What was wrong with the last load, a line for each thing; nil if it went well.
    private(set) var lastRejection: [String]?
    /// The time of day of the last load that went well.
    private(set) var lastSuccess = WallTime.epoch
    /// The keys that the last load has changed and that only a restart puts to use.
    var needsRestart: [String] = []
    /// How many reloads were rejected.
    private(set) var rejections = 0

    /// How many reloads went well; the load at start is none.
    var successes: Int { max(0, generation - 1) }

    /// How the last load went, for people: a word, and below it what was wrong, up to ten lines of it.
    var lastOutcome: String {
        guard let lastRejection else {
            let keys = needsRestart.joined(separator: ", ")
            return needsRestart.isEmpty ? "succeeded" : "succeeded; a change of \(keys) requires a restart"
        }
        let more = lastRejection.count > 10 ? ["and \(lastRejection.count - 10) more; run martlet check"] : []
        return (["rejected"] + (lastRejection.prefix(10) + more).map { "  \($0)" }).joined(separator: "\n")
    }

    /// Counts a load that went well.
    ///
    /// - Returns: the number of the new configuration.
    func succeeded() -> Int {
        generation += 1
        lastRejection = nil
        lastSuccess = Clock.system.wall
        return generation
    }

    /// Counts a reload that was rejected, and keeps what was wrong.
    func rejected(_ lines: [String]) {
        rejections += 1
        lastRejection = lines
    }
}
