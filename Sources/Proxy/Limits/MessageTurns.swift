internal import Events
internal import Time

/// Shares the turns of a worker among the calls whose large messages are read: once they have taken 2 ms of a turn, the next
/// message waits for the next turn, behind those that wait already.
///
/// Belongs to the worker's thread.
final class MessageTurns: EndOfTurn {
    /// The time of a turn after which messages wait for the next one.
    private static let maxTime = 2 * Duration.millisecond
    /// The size of a message from which on the time is looked at.
    private static let large = 16 * 1024

    private let loop: EventLoop
    /// The beginning of the turn in which no more messages are read.
    private var spent = Instant.min
    /// What waits, in its order.
    private var waiting: [() -> Void] = []
    private var isScheduled = false

    init(_ loop: EventLoop) { self.loop = loop }

    /// Whether the next message has to wait for the next turn.
    var isSpent: Bool { spent != .min && spent == loop.now }

    /// Notes that a message of this size has been read, or has passed through the chain.
    func passed(_ count: Int) {
        guard count >= Self.large, loop.clock.now - loop.now > Self.maxTime else { return }
        spent = loop.now
    }

    /// Calls `work` in the next turn that has time for it.
    func wait(_ work: @escaping () -> Void) {
        waiting.append(work)
        schedule()
    }

    private func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        loop.atNextTurn(self)
    }

    func endOfTurn() {
        isScheduled = false
        var (due, count) = (waiting, 0)
        waiting = []
        for work in due where !isSpent {
            count += 1
            work()
        }
        due.removeFirst(count)
        guard !due.isEmpty else { return }
        waiting = due + waiting
        schedule()
    }
}
