internal import Configuration
internal import Events
internal import Proxy
internal import Telemetry

/// What all workers share, because it is limited for the process as a whole.
struct Budgets: Sendable {
    /// What interceptors keep for the whole process.
    let shared = SharedStore()
    /// The file descriptors.
    let descriptors = DescriptorBudget(limit: DescriptorLimit.soft)
    /// What callers make the process hold, and connections.
    let memory = MemoryBudget()

    /// What may be held for calls if the file does not say: half of the memory that the process may have, or 512 MiB.
    static let defaultMemory = ControlGroup.memoryLimit.map { $0 / 2 } ?? 512 << 20

    /// Goes by the limits of a new configuration.
    func use(_ settings: Settings) {
        memory.limit = settings.limits.memory ?? Self.defaultMemory
    }

    /// What the metrics tell.
    var families: [MetricFamily] {
        [
            MetricFamily(.descriptors, [MetricSample(["callers"], .number(descriptors.used))]),
            MetricFamily(
                .descriptorsLimit,
                [
                    MetricSample(["callers"], .number(descriptors.callerShare)),
                    MetricSample(["reserve"], .number(descriptors.reserve)),
                ]
            ),
            MetricFamily(.heldMemory, .number(memory.used)),
            MetricFamily(.connectionMemory, .number(memory.connections)),
            MetricFamily(.heldMemoryLimit, .number(memory.limit)),
        ]
    }
}
