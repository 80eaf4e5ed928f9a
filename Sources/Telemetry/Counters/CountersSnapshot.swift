internal import RPC

/// What one worker, or all of them, had counted at one moment.
public struct CountersSnapshot: Sendable {
    /// The columns of an upstream behind the results of attempts: retries, the codes of calls, hedges, spools, and
    /// connections that were retired.
    static let upstreamRetries = AttemptResult.allCases.count
    static let codes = upstreamRetries + 1
    static let hedges = codes + RPCCode.allCases.count
    static let spoolFiles = hedges + HedgeLabel.allCases.count
    static let spoolBytes = spoolFiles + 1
    static let spoolErrors = spoolFiles + 2
    static let retired = spoolFiles + 3
    static let upstreamColumns = spoolFiles + 4
    /// The columns of an upstream's pools: connections that are idle, connections with calls, calls that wait.
    static let idle = 0
    static let active = 1
    static let waiting = 2
    static let poolColumns = 3
    /// The last columns of an interceptor, behind its verdicts: how often it was timed, the nanoseconds of that, and the
    /// codes of the calls that it let fail.
    static let timed = VerdictLabel.allCases.count
    static let time = timed + 1
    static let errorCodes = timed + 2
    static let interceptorColumns = errorCodes + RPCCode.allCases.count
    static let opened = 0
    static let closed = 1
    static let tlsErrors = 2
    static let evicted = 3
    static let listenerColumns = 4

    /// What may become of a retry: it is sent, or skipped for one of the reasons.
    private static let retryResults = 1 + RetrySkipReason.allCases.count

    /// The place in `retries` of those that were sent, or skipped for a reason.
    static func retryIndex(_ reason: RetryReason, skipped: RetrySkipReason?) -> Int {
        Int(reason.rawValue) * retryResults + (skipped.map { 1 + Int($0.rawValue) } ?? 0)
    }

    /// The place in `errors` of a code.
    static func errorIndex(_ decider: DeciderLabel, code: UInt8) -> Int {
        Int(decider.rawValue) * RPCCode.allCases.count + Int(code)
    }

    /// How many calls had started and not ended.
    public internal(set) var inFlight = 0

    var calls: [MethodName: [CallProtocol: CallCountsSnapshot]] = [:]
    var upstreams = NamedCounts(columns: upstreamColumns)
    var upstreamDurations: [String: DurationHistogram] = [:]
    var pools = NamedCounts(columns: poolColumns)
    var interceptors = NamedCounts(columns: interceptorColumns)
    var listeners = NamedCounts(columns: listenerColumns)
    /// The codes of failed calls that no interceptor decided, by who did.
    var errors = [Int](repeating: 0, count: DeciderLabel.allCases.count * RPCCode.allCases.count)
    var badRequests = NamedCounts(columns: 1)
    var rejections = [Int](repeating: 0, count: RejectionLabel.allCases.count)
    var translations = [Int](repeating: 0, count: TranslationLabel.allCases.count)
    var cacheRequests = [Int](repeating: 0, count: CacheLabel.allCases.count)
    /// Of requests, and of responses.
    var unknownFields = [0, 0]
    var limitHits = [Int](repeating: 0, count: LimitLabel.allCases.count)
    var http2LimitHits = [Int](repeating: 0, count: HTTP2LimitLabel.allCases.count)
    var retries = [Int](repeating: 0, count: RetryReason.allCases.count * retryResults)
    var resumes = [Int](repeating: 0, count: ResumeResult.allCases.count)
    var droppedLogLines = 0

    /// The log lines that were lost, since nobody read them in time or they could not be written.
    public var logLinesDropped: Int { droppedLogLines }

    /// The connections of callers that are open, by the name of the listener.
    public var openConnections: [String: Int] {
        let counts = listeners.names.indices.map { listeners[$0, Self.opened] - listeners[$0, Self.closed] }
        return Dictionary(zip(listeners.names, counts)) { $0 + $1 }
    }

    /// Makes a snapshot in which nothing was counted.
    public init() {}

    /// Adds what another worker counted, matching upstreams, interceptors, listeners and methods by name.
    public mutating func merge(_ other: CountersSnapshot) {
        inFlight += other.inFlight
        upstreams.merge(other.upstreams)
        upstreamDurations.merge(other.upstreamDurations) { $0.merging($1) }
        pools.merge(other.pools)
        interceptors.merge(other.interceptors)
        listeners.merge(other.listeners)
        for index in errors.indices { errors[index] &+= other.errors[index] }
        badRequests.merge(other.badRequests)
        for index in rejections.indices { rejections[index] &+= other.rejections[index] }
        for index in translations.indices { translations[index] &+= other.translations[index] }
        for index in cacheRequests.indices { cacheRequests[index] &+= other.cacheRequests[index] }
        for index in unknownFields.indices { unknownFields[index] &+= other.unknownFields[index] }
        for index in limitHits.indices { limitHits[index] &+= other.limitHits[index] }
        for index in http2LimitHits.indices { http2LimitHits[index] &+= other.http2LimitHits[index] }
        for index in retries.indices { retries[index] &+= other.retries[index] }
        for index in resumes.indices { resumes[index] &+= other.resumes[index] }
        droppedLogLines &+= other.droppedLogLines
        for (name, protocols) in other.calls {
            for (callProtocol, counts) in protocols { add(counts, to: name, callProtocol) }
        }
    }

    /// The connections to an upstream that are open, and the calls that wait for one.
    public func pool(of upstream: String) -> (idle: Int, active: Int, waiting: Int) {
        guard let row = pools.names.firstIndex(of: upstream) else { return (0, 0, 0) }
        return (pools[row, Self.idle], pools[row, Self.active], pools[row, Self.waiting])
    }

    /// Adds what the pools of an upstream have now.
    ///
    /// - Parameters:
    ///   - upstream: the name of the upstream.
    ///   - idle: the open connections without a call.
    ///   - active: the open connections with calls.
    ///   - waiting: the calls that wait for a connection.
    public mutating func addPools(of upstream: String, idle: Int, active: Int, waiting: Int) {
        let row = pools.row(named: upstream)
        pools[row, Self.idle] += idle
        pools[row, Self.active] += active
        pools[row, Self.waiting] += waiting
    }

    /// Two paths may lead to one name, so this adds even within one worker.
    mutating func add(_ counts: CallCountsSnapshot, to name: MethodName, _ callProtocol: CallProtocol) {
        calls[name, default: [:]].merge([callProtocol: counts]) { $0.merging($1) }
    }
}
