internal import Events
package import Policy
package import Telemetry

/// What the interceptors of a worker use beside the call: its counters, its log, what it shares with other workers.
///
/// An interceptor gets it when it is made, and may keep it. Belongs to the worker's thread.
public final class WorkerServices {
    /// The loop and the memory of the thread.
    package let context: WireContext
    /// What the worker counts.
    package let counters = WorkerCounters()
    /// What people should know.
    package let log: LogLimiter
    /// Where lines go; nil where a configuration is only looked at, and no file is to be made.
    package let lineWriters: LineWriters?
    /// The limits that all workers share.
    package let limits: LimitStore
    /// The credentials as the worker knows them.
    package let credentials: CredentialStore
    /// What calls take their ids from, and chance.
    package var random = Xoshiro256()
    /// Runs what suspended interceptors wait for.
    private(set) lazy var tasks = LoopTasks(on: context.loop)
    /// The requests of our own that calls wait for.
    package var fetches: SharedFetches {
        if let madeFetches { return madeFetches }
        let new = SharedFetches(Fetcher(context: context, network: network, names: names, logLimiter: log))
        madeFetches = new
        return new
    }
    private var madeFetches: SharedFetches?
    private let network: any Network
    private let names: NameService

    init(
        context: WireContext,
        log: LogLimiter,
        lineWriters: LineWriters?,
        limits: LimitStore,
        credentials: CredentialStore,
        network: any Network,
        names: NameService
    ) {
        self.context = context
        self.log = log
        self.lineWriters = lineWriters
        self.limits = limits
        self.credentials = credentials
        self.network = network
        self.names = names
    }

    /// Closes what is idle of connections of our own.
    func drain() { madeFetches?.drain() }
}
