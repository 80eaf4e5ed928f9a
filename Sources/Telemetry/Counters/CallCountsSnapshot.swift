/// A copy of what was counted of one method in one protocol.
struct CallCountsSnapshot: Sendable {
    private(set) var started: Int
    private(set) var handled: [CallOutcome: Int]
    private(set) var durations: DurationHistogram
    private(set) var messages: MessageCounts

    init(_ counts: CallCounts, _ durations: DurationHistogram, routes: RouteNames) {
        started = counts.started
        handled = counts.handled.byOutcome(routes)
        self.durations = durations
        messages = counts.messages
    }

    /// The counts of both.
    func merging(_ other: CallCountsSnapshot) -> CallCountsSnapshot {
        var both = self
        both.started &+= other.started
        both.handled.merge(other.handled) { $0 &+ $1 }
        both.durations = durations.merging(other.durations)
        both.messages &+= other.messages
        return both
    }
}
