internal import Configuration
public import Events
package import Policy
public import Telemetry

/// What the interceptors of a worker use beside the call: its counters, its log, what it shares with other workers.
///
/// An interceptor gets it when it is made, and may keep it. Belongs to the worker's thread.
public final class WorkerServices {
    /// The loop and the memory of the thread.
    package let context: WireContext
    /// What the worker counts.
    package let counters = WorkerCounters()
    /// What people should know.
    public let log: LogLimiter
    /// Where lines go; nil where a configuration is only looked at, and no file is to be made.
    public let lineWriters: LineWriters?
    /// What interceptors of all workers share.
    public let shared: SharedStore
    /// The credentials as the worker knows them.
    public let credentials: CredentialStore
    /// What calls take their ids from, and chance.
    package var random = Xoshiro256()
    /// Runs what suspended interceptors wait for.
    private(set) lazy var tasks = LoopTasks(on: context.loop)
    /// The requests of our own that calls wait for.
    public var fetches: SharedFetches {
        if let madeFetches { return madeFetches }
        let fetcher = Fetcher(context: context, network: network, names: names, logLimiter: log) { [counters] limit in
            counters.limitHit(limit)
        }
        fetcher.rehearsed = rehearsed
        let new = SharedFetches(fetcher)
        madeFetches = new
        return new
    }
    private var madeFetches: SharedFetches?
    /// The dates of responses, or `nil` in rehearsals, whose responses get none.
    var responseDates: ResponseDates?
    private var own: [ObjectIdentifier: AnyObject] = [:]
    /// What responds to requests of our own, where nothing is to be sent.
    var rehearsed: RehearsedFetches?
    /// Whether programs may be started.
    public var runsPrograms: Bool { rehearsed == nil }
    private let network: any Network
    private let names: NameService

    init(
        context: WireContext,
        log: LogLimiter,
        lineWriters: LineWriters?,
        shared: SharedStore,
        credentials: CredentialStore,
        network: any Network,
        names: NameService
    ) {
        self.context = context
        self.log = log
        self.lineWriters = lineWriters
        self.shared = shared
        self.credentials = credentials
        self.network = network
        self.names = names
    }

    /// The loop of the thread: its clock and its timers, and what subprocesses run on.
    public var loop: EventLoop { context.loop }

    /// 64 random bits.
    public func randomBits() -> UInt64 { random.next() }

    /// A random number from 0 up to, and without, 1.
    public func randomFraction() -> Double { random.nextFraction() }

    /// Counts lines that could not be written in `martlet_log_lines_dropped_total`.
    public func linesDropped(_ count: Int) { counters.logLinesDropped(count) }

    /// Counts that somebody has reached a limit, in `martlet_limit_hits_total`.
    public func limitHit(_ limit: LimitLabel) { counters.limitHit(limit) }

    /// Has `work` done once the events of this turn of the loop are handled.
    public func atEndOfTurn(_ work: any EndOfTurn) { context.atEndOfTurn(work) }

    /// The one object of its type that interceptors of this worker share, made when it is first asked for.
    public func shared<Object: AnyObject>(make: () -> Object) -> Object {
        if let known = own[ObjectIdentifier(Object.self)] as? Object { return known }
        let new = make()
        own[ObjectIdentifier(Object.self)] = new
        return new
    }

    /// Makes what serves calls in this process, which metrics and logs know by this name as they do an upstream.
    ///
    /// To be asked for when an interceptor is made.
    ///
    /// - Parameters:
    ///   - name: the name.
    ///   - translates: whether calls are translated to gRPC for it; if not, it has to respond in the protocol of the caller.
    /// - Returns: what serves calls on this worker.
    public func localUpstream(named name: String, translates: Bool = true) -> LocalUpstream {
        let settings = UpstreamSettings(inProcess: name, translates: translates)
        return LocalUpstream(
            Upstream(
                settings,
                context: context,
                network: network,
                names: names,
                counter: counters.upstream(name),
                events: .uncounted,
                logLimiter: log,
                tls: nil
            ),
            translates: translates
        )
    }

    /// Closes what is idle of connections of our own.
    func drain() { madeFetches?.drain() }
}
