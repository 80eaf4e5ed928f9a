internal import Events
internal import Proxy
internal import Telemetry
internal import Time

/// What all workers say about themselves, in one.
struct Report: Sendable {
    var counters = CountersSnapshot()
    var connections = 0
    var liveGenerations = 1
    /// The configurations that calls go by, by their numbers.
    var generations: [GenerationUsage] = []
    /// Why connections could not be made of late, by the name of the upstream.
    var connectErrors: [String: String] = [:]
    /// The number of calls that have stalled, and for how long at most.
    var stalled = (count: 0, longest: Duration.zero)
    /// What there is at the addresses of upstreams.
    var addresses: [AddressUsage] = []

    /// That of no worker.
    init() {}

    /// One worker's.
    init(_ worker: Worker) {
        counters = worker.snapshot()
        connections = worker.connectionCount
        liveGenerations = worker.liveGenerations
        generations = worker.generations
        connectErrors = worker.connectErrors
        stalled = worker.stalledCalls
        addresses = worker.addressUsage
    }

    /// Adds another worker's.
    mutating func merge(_ other: Report) {
        counters.merge(other.counters)
        connections += other.connections
        liveGenerations = max(liveGenerations, other.liveGenerations)
        generations = GenerationUsage.merged(generations + other.generations)
        connectErrors.merge(other.connectErrors) { first, _ in first }
        stalled = (stalled.count + other.stalled.count, max(stalled.longest, other.stalled.longest))
        addresses += other.addresses
    }
}

extension Daemon {
    /// Asks all workers for their reports; that of a worker which is stuck is the last that it has made.
    func ask(_ then: @escaping (Report) -> Void) {
        workers?.ask(Report.init) { [self] in then(merged($0)) }
    }

    /// Makes one report of those that workers have made now, and of the last ones of the others.
    func merged(_ reports: [Int: Report]) -> Report {
        lastReports.merge(reports) { $1 }
        var all = Report()
        for report in lastReports.values { all.merge(report) }
        return all
    }
}
