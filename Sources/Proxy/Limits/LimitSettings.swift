/// What is limited, and by what name: limits that have the same are one limit.
struct LimitSettings: Hashable, Sendable {
    let name: String
    let rate: Rate?
    /// How many calls may come at once, if none has for a while.
    let burst: Int
    let concurrency: Int?
    /// The template that tells for whom calls are counted.
    let key: String
    /// How many values of it are remembered.
    let keys: Int
}
