internal import Events

/// The calls of a worker that wait for signals: others may raise those on threads of their own.
///
/// Belongs to the worker's thread.
final class MockAlarms {
    /// What is done when a signal comes, by numbers.
    private final class Bells {
        var actions: [Int: () -> Void] = [:]
    }

    private let bells = Bells()
    private let mailbox = Mailbox<Bells>()
    private let slot: MailSlot<Bells>
    private var lastNumber = 0

    init(on loop: EventLoop) {
        slot = MailSlot(mailbox, for: bells, on: loop)
    }

    /// Sets an alarm, which does `action` on this thread.
    ///
    /// - Returns: its number, and what rings it from any thread.
    func set(_ action: @escaping () -> Void) -> (number: Int, ring: @Sendable () -> Void) {
        lastNumber += 1
        let (number, mailbox) = (lastNumber, mailbox)
        bells.actions[number] = action
        return (number, { mailbox.post { $0.actions.removeValue(forKey: number)?() } })
    }

    /// An alarm is not wanted any more.
    func remove(_ number: Int) { bells.actions[number] = nil }
}
