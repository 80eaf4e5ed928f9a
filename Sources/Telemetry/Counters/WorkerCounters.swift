internal import Bytes
internal import RPC
public import Time

/// All that one worker counts, in plain integers.
///
/// Belongs to the worker's thread and outlives every generation: counters never go back. A call allocates nothing here
/// once its method, route and code have been seen. Other threads get a `snapshot`, made on the worker's thread.
///
/// `started` is counted once the name of the method is settled: at once for a method that is known and for plain
/// HTTP, when `admit` is called for a new one, and else, under `_OTHER`, when the call ends. So a call is started and
/// handled under one name, neither count ever goes back, and `inFlight` is counted apart from both.
public final class WorkerCounters {
    private var calls: CallCounters
    private var upstreams = NamedCounts(columns: CountersSnapshot.upstreamColumns)
    private var upstreamDurations = HistogramRows()
    private var interceptors = NamedCounts(columns: CountersSnapshot.interceptorColumns)
    private var listeners = NamedCounts(columns: CountersSnapshot.listenerColumns)
    private var errors = CountersSnapshot().errors
    private var badRequests = NamedCounts(columns: 1)
    private var rejections = [Int](repeating: 0, count: RejectionLabel.allCases.count)
    private var limitHits = [Int](repeating: 0, count: LimitLabel.allCases.count)
    private var translations = [Int](repeating: 0, count: TranslationLabel.allCases.count)
    private var cacheRequests = [Int](repeating: 0, count: CacheLabel.allCases.count)
    private var unknownFields = CountersSnapshot().unknownFields
    private var http2LimitHits = [Int](repeating: 0, count: HTTP2LimitLabel.allCases.count)
    private var retries = CountersSnapshot().retries
    private var resumes = CountersSnapshot().resumes
    private var droppedLogLines = 0

    /// Makes counters at zero that count at most `methodLimit` methods by name.
    public init(methodLimit: Int = 200) {
        calls = CallCounters(methodLimit: methodLimit)
    }

    /// Changes how many methods are counted by name; those that already are stay.
    public func setMethodLimit(_ limit: Int) {
        calls.methods.limit = limit
    }

    /// Changes the buckets of all histograms, which then start again; does nothing if the buckets are the same.
    public func setBuckets(_ bounds: HistogramBounds) {
        calls.methods.durations.setBounds(bounds)
        upstreamDurations.setBounds(bounds)
    }

    // MARK: Calls

    /// What calls of the route `name` are counted under; to be asked for when a configuration is loaded.
    public func route(named name: [UInt8]) -> RouteCounter {
        calls.routes.counter(named: name)
    }

    /// How many calls have started and not ended.
    public var inFlight: Int { calls.inFlight }

    /// Counts the start of a call to `path`, which has no query.
    ///
    /// - Parameters:
    ///   - path: the path as the caller sent it.
    ///   - hash: the FNV-1a hash of `path`, if it is known.
    ///   - callProtocol: the protocol of the caller; for plain HTTP the path does not matter.
    /// - Returns: what to give to `admit` and `end`.
    public func start(_ path: Span<UInt8>, hash: UInt64? = nil, _ callProtocol: CallProtocol) -> StartedCall {
        calls.start(path, hash: hash, callProtocol)
    }

    /// Lets the method of `call` be counted by name from now on, because a response showed that it exists.
    ///
    /// Not to be called for a response that any path may get, such as `unimplemented` or `unauthenticated`: callers could
    /// fill the table with names of their own invention otherwise. Costs next to nothing for a method that is known.
    ///
    /// - Parameters:
    ///   - call: the call that was answered.
    ///   - path: the path that it is counted under: the one it started with, or what that was rewritten to.
    ///   - service: the full name of the service.
    ///   - method: the name of the method.
    public func admit(_ call: inout StartedCall, path: Span<UInt8>, service: Span<UInt8>, method: Span<UInt8>) {
        guard !call.isCounted else { return }
        calls.admit(&call, path: path, service: service, method: method)
    }

    /// Lets a method be known by its name from now on, without a call that is counted.
    ///
    /// The parameters are those of `admit`, and so is what may not bring it about.
    public func admit(path: Span<UInt8>, service: Span<UInt8>, method: Span<UInt8>) {
        _ = calls.methods.admit(path, hash: path.fnv1a, service: service, method: method)
    }

    /// Whether the method at `path`, which has no query, is known by its name.
    public func knowsMethod(_ path: Span<UInt8>) -> Bool { calls.methods.find(path, hash: path.fnv1a) != 0 }

    /// Counts the end of a call, whatever became of it.
    ///
    /// - Parameters:
    ///   - call: the call; must not be used again.
    ///   - route: the route it took.
    ///   - code: the number of the code it ended with, 0 to 16.
    ///   - duration: the time since it arrived.
    ///   - messages: the messages it had; plain HTTP has none.
    ///   - span: its span, if that is exported.
    public func end(
        _ call: StartedCall,
        route: RouteCounter,
        code: UInt8,
        duration: Duration,
        messages: MessageCounts = MessageCounts(),
        span: ExportedSpan? = nil
    ) {
        calls.end(call, route, code: code, duration: duration, messages, span: span)
    }

    /// Counts a call that failed, with a code other than `ok`, by who decided that.
    public func callFailed(_ code: UInt8, decidedBy decider: DeciderLabel) {
        assert(code < RPCCode.allCases.count, "the code is not a gRPC code")
        errors[CountersSnapshot.errorIndex(decider, code: code)] &+= 1
    }

    /// Counts a call that failed, with a code other than `ok`, because an interceptor of the configuration decided so.
    public func callFailed(_ code: UInt8, decidedBy interceptor: String) {
        assert(code < RPCCode.allCases.count, "the code is not a gRPC code")
        interceptors[interceptors.row(named: interceptor), CountersSnapshot.errorCodes + Int(code)] &+= 1
    }

    // MARK: Upstreams, interceptors, listeners

    /// The counters of the upstream `name`; to be asked for when a configuration is loaded.
    public func upstream(_ name: String) -> UpstreamCounter {
        let row = upstreams.row(named: name)
        if row == upstreamDurations.count { upstreamDurations.addRow() }
        return UpstreamCounter(row: row)
    }

    /// The counters of the interceptor `name`; to be asked for when a configuration is loaded.
    public func interceptor(_ name: String) -> InterceptorCounter {
        InterceptorCounter(row: interceptors.row(named: name))
    }

    /// The counters of the listener at the address `name`; to be asked for when a configuration is loaded.
    public func listener(_ name: String) -> ListenerCounter {
        ListenerCounter(row: listeners.row(named: name))
    }

    /// Counts the end of an attempt.
    public func attempt(_ upstream: UpstreamCounter, _ result: AttemptResult) {
        upstreams[upstream.row, Int(result.rawValue)] &+= 1
    }

    /// Counts the end of a call that was sent to an upstream.
    ///
    /// - Parameters:
    ///   - upstream: the upstream.
    ///   - code: the number of the code that the call ended with, 0 to 16.
    ///   - duration: the time since its request left the chain for the upstream.
    ///   - span: the span of the call, if that is exported.
    public func upstreamCall(
        _ upstream: UpstreamCounter,
        code: UInt8,
        duration: Duration,
        span: ExportedSpan? = nil
    ) {
        assert(code < RPCCode.allCases.count, "the code is not a gRPC code")
        upstreams[upstream.row, CountersSnapshot.codes + Int(code)] &+= 1
        upstreamDurations.record(duration, row: upstream.row, span: span)
    }

    /// Counts a retry that is begun.
    public func retry(_ reason: RetryReason, on upstream: UpstreamCounter) {
        retries[CountersSnapshot.retryIndex(reason, skipped: nil)] &+= 1
        upstreams[upstream.row, CountersSnapshot.upstreamRetries] &+= 1
    }

    /// Counts what became of a further attempt of a hedged call.
    public func hedge(_ result: HedgeLabel, on upstream: UpstreamCounter) {
        upstreams[upstream.row, CountersSnapshot.hedges + Int(result.rawValue)] &+= 1
    }

    /// Counts what became of a request at a cache.
    public func cacheRequest(_ result: CacheLabel) { cacheRequests[Int(result.rawValue)] &+= 1 }

    /// Counts files and bytes that are kept of requests for an upstream, or are no more if there are fewer than none.
    public func spool(_ upstream: UpstreamCounter, files: Int, bytes: Int) {
        upstreams[upstream.row, CountersSnapshot.spoolFiles] &+= files
        upstreams[upstream.row, CountersSnapshot.spoolBytes] &+= bytes
    }

    /// Counts a file for requests that cannot be written or read.
    public func spoolFailed(_ upstream: UpstreamCounter) {
        upstreams[upstream.row, CountersSnapshot.spoolErrors] &+= 1
    }

    /// Counts a connection that begins no more calls because callers canceled too many on it.
    public func retiredConnection(_ upstream: UpstreamCounter) {
        upstreams[upstream.row, CountersSnapshot.retired] &+= 1
    }

    /// Counts a retry that was due and is not sent.
    public func retrySkipped(_ reason: RetryReason, _ skipReason: RetrySkipReason) {
        retries[CountersSnapshot.retryIndex(reason, skipped: skipReason)] &+= 1
    }

    /// Counts what became of a response that broke off and could be resumed.
    public func resume(_ result: ResumeResult) {
        resumes[Int(result.rawValue)] &+= 1
    }

    /// Counts a verdict other than to go on.
    public func verdict(_ interceptor: InterceptorCounter, _ verdict: VerdictLabel) {
        interceptors[interceptor.row, Int(verdict.rawValue)] &+= 1
    }

    /// Counts how long an interceptor took with one event.
    public func interceptorTook(_ interceptor: InterceptorCounter, _ time: Duration) {
        interceptors[interceptor.row, CountersSnapshot.timed] &+= 1
        interceptors[interceptor.row, CountersSnapshot.time] &+= Int(time.nanoseconds)
    }

    /// Counts a caller's connection that was taken.
    public func connectionOpened(_ listener: ListenerCounter) {
        listeners[listener.row, CountersSnapshot.opened] &+= 1
    }

    /// Counts a caller's connection that is gone.
    public func connectionClosed(_ listener: ListenerCounter) {
        listeners[listener.row, CountersSnapshot.closed] &+= 1
    }

    /// Counts a caller's connection whose TLS has failed, at its start or later.
    public func tlsFailed(_ listener: ListenerCounter) {
        listeners[listener.row, CountersSnapshot.tlsErrors] &+= 1
    }

    /// Counts a caller's idle connection that was closed since file descriptors were short.
    public func connectionEvicted(_ listener: ListenerCounter) {
        listeners[listener.row, CountersSnapshot.evicted] &+= 1
    }

    // MARK: Trouble

    /// Counts a request that is not good HTTP; the reason is a label, so it comes from the code and never from a caller.
    public func badRequest(_ reason: StaticString) {
        badRequests[badRequests.row(named: reason.description), 0] &+= 1
    }

    /// Counts a request that was not let in for the names it brought.
    public func rejected(_ reason: RejectionLabel) {
        rejections[Int(reason.rawValue)] &+= 1
    }

    /// Counts a call that goes to its upstream in another protocol than the caller's.
    public func translated(_ translation: TranslationLabel) {
        translations[Int(translation.rawValue)] &+= 1
    }

    /// Counts fields of a message that are left out where it is converted.
    public func unknownFields(_ count: Int, ofRequest: Bool) {
        unknownFields[ofRequest ? 0 : 1] &+= count
    }

    /// Counts that somebody ran into a limit.
    public func limitHit(_ limit: LimitLabel) {
        limitHits[Int(limit.rawValue)] &+= 1
    }

    /// Counts that the other side of an HTTP/2 connection ran into a limit.
    public func http2LimitHit(_ limit: HTTP2LimitLabel) {
        http2LimitHits[Int(limit.rawValue)] &+= 1
    }

    /// Counts log lines that nobody took in time.
    public func logLinesDropped(_ count: Int = 1) {
        droppedLogLines &+= count
    }

    /// A copy of all counts that may go to another thread.
    public func snapshot() -> CountersSnapshot {
        var copy = CountersSnapshot()
        copy.inFlight = calls.inFlight
        copy.upstreams = upstreams
        for (row, name) in upstreams.names.enumerated() { copy.upstreamDurations[name] = upstreamDurations[row] }
        copy.interceptors = interceptors
        copy.listeners = listeners
        copy.errors = errors
        copy.badRequests = badRequests
        copy.rejections = rejections
        copy.translations = translations
        copy.cacheRequests = cacheRequests
        copy.unknownFields = unknownFields
        copy.limitHits = limitHits
        copy.http2LimitHits = http2LimitHits
        copy.retries = retries
        copy.resumes = resumes
        copy.droppedLogLines = droppedLogLines
        calls.methods.add(to: &copy, routes: calls.routes)
        return copy
    }
}
