/// What a worker counts of one method in one protocol.
struct CallCounts {
    private(set) var started = 0
    private(set) var handled = HandledCounts()
    private(set) var durations = DurationHistogram()
    private(set) var messages = MessageCounts()

    mutating func start() {
        started &+= 1
    }

    mutating func end(_ outcome: CallOutcome, nanoseconds: Int, _ messages: MessageCounts) {
        handled.record(outcome)
        durations.record(nanoseconds: nanoseconds)
        self.messages &+= messages
    }
}
