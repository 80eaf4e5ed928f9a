/// What a worker counts of one method in one protocol, beside durations.
struct CallCounts {
    private(set) var started = 0
    private(set) var handled = HandledCounts()
    private(set) var messages = MessageCounts()

    mutating func start() {
        started &+= 1
    }

    mutating func end(_ route: RouteCounter, code: UInt8, _ messages: MessageCounts) {
        handled.record(route, code: code)
        self.messages &+= messages
    }
}
