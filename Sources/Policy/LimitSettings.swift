/// What is limited, and by what name: limits that have the same are one limit.
public struct LimitSettings: Hashable, Sendable {
    /// The name of the limit.
    public let name: String
    /// How many calls may come in a time; nil for any number.
    public let rate: Rate?
    /// How many calls may come at once, if none has for a while.
    public let burst: Int
    /// How many calls may be under way at a time; nil for any number.
    public let concurrency: Int?
    /// The template that tells for whom calls are counted.
    public let key: String
    /// How many values of it are remembered.
    public let keys: Int

    /// Makes the settings of a limit.
    public init(name: String, rate: Rate?, burst: Int, concurrency: Int?, key: String, keys: Int) {
        self.name = name
        self.rate = rate
        self.burst = burst
        self.concurrency = concurrency
        self.key = key
        self.keys = keys
    }
}
