internal import Events
internal import Proxy
internal import Telemetry

/// What all workers say about themselves, in one.
struct Report: Sendable {
    var counters = CountersSnapshot()
    var connections = 0
    var liveGenerations = 1

    /// One worker's.
    init(_ worker: Worker) {
        counters = worker.snapshot()
        connections = worker.connectionCount
        liveGenerations = worker.liveGenerations
    }

    /// Adds another worker's.
    mutating func merge(_ other: Report) {
        counters.merge(other.counters)
        connections += other.connections
        liveGenerations = max(liveGenerations, other.liveGenerations)
    }
}

extension Daemon {
    /// Asks all workers for their reports.
    func ask(_ then: @escaping (Report) -> Void) {
        workers?.ask(Report.init) { reports in
            guard var all = reports.first else { return }
            for report in reports.dropFirst() { all.merge(report) }
            then(all)
        }
    }
}
