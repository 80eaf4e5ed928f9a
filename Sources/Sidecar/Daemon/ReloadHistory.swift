internal import Events

/// What became of the loads of the configuration.
final class ReloadHistory {
    /// The number of the configuration in use.
    private(set) var generation = 0
    /// Whether the last load went well.
    private(set) var lastSucceeded = true
    /// The time of day of the last load that went well, in nanoseconds since 1970.
    private(set) var lastSuccess: Nanoseconds = 0
    /// How many reloads were refused.
    private(set) var refusals = 0

    /// How many reloads went well; the load at start is none.
    var successes: Int { max(0, generation - 1) }

    /// Counts a load that went well.
    ///
    /// - Returns: the number of the new configuration.
    func succeeded() -> Int {
        generation += 1
        lastSucceeded = true
        lastSuccess = Clock.wall
        return generation
    }

    /// Counts a reload that was refused.
    func refused() {
        refusals += 1
        lastSucceeded = false
    }
}
