/// Hands lines of a worker to those who subscribe to them on other threads.
///
/// Costs a check for nil while nobody subscribes. Belongs to the worker's thread.
package final class Publisher {
    /// Where lines go; nil while nobody subscribes.
    private var handovers: [LineHandover]?

    /// Makes one without subscribers.
    package init() {}

    /// Whether nobody would get a line.
    package var isIdle: Bool { handovers == nil }

    /// Publishes a line, which ends with a line feed.
    package func publish(_ line: [UInt8]) {
        guard let handovers else { return }
        for handover in handovers { handover.append(line) }
    }

    /// Adds a subscriber.
    package func add(_ handover: LineHandover) {
        handovers = (handovers ?? []) + [handover]
    }

    /// Removes a subscriber.
    package func remove(_ handover: LineHandover) {
        guard let rest = handovers?.filter({ $0 !== handover }) else { return }
        handovers = rest.isEmpty ? nil : rest
    }
}
