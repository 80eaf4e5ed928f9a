/// A copy of what was counted of one method in one protocol.
struct CallCountsSnapshot: Sendable {
    private(set) var started = 0
    private(set) var handled: [CallOutcome: Int] = [:]
    private(set) var durations = DurationHistogram()
    private(set) var messages = MessageCounts()

    init() {}

    init(_ counts: CallCounts) {
        started = counts.started
        handled = counts.handled.byOutcome
        durations = counts.durations
        messages = counts.messages
    }

    mutating func merge(_ other: CallCountsSnapshot) {
        started &+= other.started
        handled.merge(other.handled) { $0 &+ $1 }
        durations.merge(other.durations)
        messages &+= other.messages
    }
}
