internal import Bytes
internal import Events
internal import HTTP

/// What of a response is through the chain and waits to go out.
struct ResponseHold {
    enum State {
        /// Nothing waits.
        case open
        /// The head waits until something follows it.
        case untilMore
        /// All of it waits until its end is known.
        case untilEnd
        /// It has turned out too large to wait.
        case released
    }

    var state = State.open
    var head: HTTPHead?
    var body: ByteQueue?
    /// Ends the wait for what follows the head.
    var timer: Timer?

    var isUntilEnd: Bool { state == .untilEnd }

    /// The head, if it waits for what follows: it waits no more.
    mutating func endWait() -> HTTPHead? {
        guard state == .untilMore, let head else { return nil }
        timer.take()?.cancel()
        state = .open
        self.head = nil
        return head
    }
}
