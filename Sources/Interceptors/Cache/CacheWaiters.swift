internal import Caching
internal import Events

/// The calls of a worker that wait for a response that another fetches, be it on another thread.
///
/// Belongs to the worker's thread.
final class CacheWaiters {
    /// What is done when the wait is over, by numbers.
    private final class Bells {
        var actions: [Int: (CacheWaiter.Word) -> Void] = [:]
    }

    private let bells = Bells()
    private let mailbox = Mailbox<Bells>()
    private let slot: MailSlot<Bells>
    private var lastBell = 0

    init(on loop: EventLoop) {
        slot = MailSlot(mailbox, for: bells, on: loop)
    }

    /// Makes a waiter, which does `action` on this thread when it is woken.
    ///
    /// - Returns: the waiter, and the number of its bell.
    func makeWaiter(_ number: Int, _ action: @escaping (CacheWaiter.Word) -> Void) -> (CacheWaiter, bell: Int) {
        lastBell += 1
        let (bell, mailbox) = (lastBell, mailbox)
        bells.actions[bell] = action
        let waiter = CacheWaiter(number) { word in
            mailbox.post { $0.actions.removeValue(forKey: bell)?(word) }
        }
        return (waiter, bell)
    }

    /// A waiter is not to be woken any more.
    func remove(bell: Int) { bells.actions[bell] = nil }
}
