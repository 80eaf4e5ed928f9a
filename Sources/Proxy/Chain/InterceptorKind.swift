public import Configuration
internal import Telemetry

/// A kind of interceptor: its name, its options and how one is made of them.
///
/// Everything about a kind is in its own file; `Registry` lists those that come with Martlet.
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
    /// Makes an interceptor of read options; what is wrong with them is reported to the section's diagnostics.
    ///
    /// Called once for each worker and once for the check, on their threads.
    public let make: @Sendable (Section, CompileContext) -> any Interceptor

    /// Declares a kind.
    public init(
        name: String,
        summary: String,
        responds: Bool = false,
        isPerAttempt: Bool = false,
        rewrites: Bool = false,
        options: [Option],
        make: @escaping @Sendable (Section, CompileContext) -> any Interceptor
    ) {
        self.name = name
        self.summary = summary
        self.responds = responds
        self.isPerAttempt = isPerAttempt
        self.rewrites = rewrites
        self.options = options
        self.make = make
    }
}

/// What interceptors are made with, beside their options.
public final class CompileContext {
    /// The name of the interceptor that is being made.
    public internal(set) var name = ""
    /// The credentials that are kept up to date from outside.
    let credentials: CredentialStore
    /// The named calls.
    let calls: NamedCalls
    /// What has been read and made for the configuration.
    let acquired: Acquired
    /// Where lines go; nil while a configuration is only checked, when no file is to be made.
    let lineWriters: LineWriters?
    /// The permission bits that log files get, by path.
    var logModes: [String: UInt32] = [:]
    /// The files that logs go to, in the order of the configuration.
    var logFiles: [MarkedString] = []
    /// The limits that all workers share.
    let limits: LimitStore
    /// The kinds that there are.
    let kinds: Registry
    /// The buckets of the histograms, and where they stand; nil if no interceptor has given any yet.
    var buckets: (bounds: HistogramBounds, mark: Mark)?

    init(
        credentials: CredentialStore,
        calls: NamedCalls = NamedCalls(),
        acquired: Acquired = Acquired(),
        lineWriters: LineWriters?,
        limits: LimitStore = LimitStore(),
        kinds: Registry = .builtIn
    ) {
        self.credentials = credentials
        self.calls = calls
        self.acquired = acquired
        self.lineWriters = lineWriters
        self.limits = limits
        self.kinds = kinds
    }
}
