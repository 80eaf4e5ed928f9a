internal import Configuration
internal import Proxy

/// Whether a process has the file descriptors that a configuration may come to need.
struct DescriptorNeeds {
    /// The connections that `limits.connections` of all listeners allow.
    private let connections: Int
    private let workers: Int
    /// Whether one of the limits is not the default, and so was meant.
    let isMeant: Bool

    init(_ settings: Settings) {
        workers = settings.workers ?? Machine.workers
        connections = settings.listeners.reduce(0) { $0 + $1.limits.connections } * workers
        isMeant = settings.listeners.contains { $0.limits.connections != ListenerSettings.Limits.defaultConnections }
    }

    /// What there are too few of, and what to do about it; nil if there are enough.
    func shortage(_ budget: DescriptorBudget) -> String? {
        guard connections > budget.callerShare else { return nil }
        let allowed = "limits.connections allows \(connections) connections with \(workers) workers"
        let had = "this process has \(budget.limit) file descriptors, of which callers can use \(budget.callerShare)"
        return "\(allowed), but \(had); raise the hard limit (LimitNOFILE=, ulimit -Hn), or lower limits.connections"
    }
}
