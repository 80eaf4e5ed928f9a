public import Configuration

/// A kind of interceptor: its name, its options and how one is planned.
///
/// Everything about a kind is in its own folder; `Registry` lists those that come with Martlet.
public struct InterceptorKind: Sendable {
    /// The key that names the kind in a chain.
    public let name: String
    /// What it does: sentences for the reference page.
    public let summary: String
    /// Whether it responds to calls itself, so that a route with it can do without an upstream.
    public let responds: Bool
    /// Whether it runs for each attempt rather than once for the call, where the file does not say.
    public let isPerAttempt: Bool
    /// Whether all it does is change heads, the same each time: then it is applied again where an attempt before it in the
    /// chain begins again.
    public let rewrites: Bool
    /// Its options, read by this table.
    public let options: [Option]
    /// The option that a scalar in place of the options stands for, if one does.
    public let shorthand: String?
    /// Makes what the interceptors of the kind share, before any of them is planned; called once for each configuration.
    public let prepare: (@Sendable (BuildResources, Diagnostics) -> Void)?
    /// Makes the plan of an interceptor of read options; what is wrong with them is reported to the section's diagnostics.
    ///
    /// Called once for each interceptor of a configuration, on the main thread.
    public let plan: @Sendable (Section, BuildContext) -> any InterceptorPlan

    /// Declares a kind.
    public init(
        name: String,
        summary: String,
        responds: Bool = false,
        isPerAttempt: Bool = false,
        rewrites: Bool = false,
        options: [Option],
        shorthand: String? = nil,
        prepare: (@Sendable (BuildResources, Diagnostics) -> Void)? = nil,
        plan: @escaping @Sendable (Section, BuildContext) -> any InterceptorPlan
    ) {
        self.name = name
        self.summary = summary
        self.responds = responds
        self.isPerAttempt = isPerAttempt
        self.rewrites = rewrites
        self.options = options
        self.shorthand = shorthand
        self.prepare = prepare
        self.plan = plan
    }
}
