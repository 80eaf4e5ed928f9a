/// A chain with a name, for routes to use.
public struct ChainSettings: Equatable, Sendable {
    /// The name.
    public let name: String
    /// The interceptors, those of included chains in their place; requests pass them first to last, responses last to first.
    public let items: [ChainItem]
    /// Where the file names the chain.
    @NotCompared public private(set) var mark: Mark
}
