public import Configuration
public import Telemetry

/// What the options of one interceptor came to: all that is parsed, read or acquired for it.
///
/// It is made once, on the main thread, when a configuration is loaded, and all workers share it. It never changes. Each worker
/// makes its interceptor of it.
public protocol InterceptorPlan: Sendable {
    /// The events that the chain calls hooks for; asked once.
    var events: EventSet { get }
    /// Whether what follows is handed to the interceptor only when what it has suspended has gone on.
    var isSerial: Bool { get }
    /// What is wrong with sending every call to this upstream; said once, when the configuration is loaded.
    func rejection(of upstream: UpstreamSettings) -> String?
    /// Makes the interceptor of one worker, on the worker's thread.
    ///
    /// Calls wait meanwhile: it may not read files, compile or parse.
    func instance(on worker: WorkerServices) -> any Interceptor
}

extension InterceptorPlan {
    public var isSerial: Bool { false }
    public func rejection(of upstream: UpstreamSettings) -> String? { nil }
}

/// What a plan is made with, beside its options.
///
/// Belongs to the main thread.
public struct BuildContext {
    /// The name of the interceptor.
    public let name: String
    /// The items of its chain, with its own.
    public internal(set) var chain: [ChainItem] = []
    /// What the interceptors of the configuration share.
    public let resources: BuildResources
}

/// What the interceptors of a configuration share while they are planned, and what they leave for others.
///
/// Belongs to the main thread.
public final class BuildResources {
    /// The named calls.
    public let calls: NamedCalls
    /// The mocks of the file.
    public let mocks: [MockSettings]
    /// The caches of the file.
    public let caches: [CacheSettings]
    /// What has been read and made for the configuration.
    public let acquired: Acquired
    /// What kinds have prepared for their interceptors, by names of their own.
    public var prepared: [String: any AnyObject & Sendable] = [:]
    /// The credentials that interceptors name, in the order of the file.
    public var credentials: [NamedCredential] = []
    /// The permission bits that log files get, by path.
    public var logModes: [String: UInt32] = [:]
    /// The longest sizes of tapes, by path.
    public var tapeLimits: [String: Int] = [:]
    /// The files that logs go to, in the order of the configuration.
    public var logFiles: [MarkedString] = []
    /// Where the configuration has logs go to standard output.
    public var outputLogs: [Mark] = []
    /// The buckets of the histograms, and where they stand; nil if no interceptor has given any yet.
    public var buckets: (bounds: HistogramBounds, mark: Mark)?

    /// The share of calls that are traced, as variables of OpenTelemetry say; nil if they say nothing.
    public let sample: Double?

    init(
        calls: NamedCalls = NamedCalls(),
        mocks: [MockSettings] = [],
        caches: [CacheSettings] = [],
        acquired: Acquired = Acquired(),
        sample: Double? = nil
    ) {
        self.calls = calls
        self.mocks = mocks
        self.caches = caches
        self.acquired = acquired
        self.sample = sample
    }
}
