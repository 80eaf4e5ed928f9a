private import Synchronization
package import Time

/// What the process holds for calls and for heads that have come in part: the same object for all workers.
///
/// Safe on any thread. An unfinished head keeps a `MemoryShare`; what is held for calls is counted by the `MemoryMeter` of
/// each worker.
package final class MemoryBudget: Sendable {
    private let held = Atomic(0)
    private let maxBytes: Atomic<Int>

    /// Makes a budget of `limit` bytes.
    package init(limit: Int = .max) {
        maxBytes = Atomic(limit)
    }

    /// The bytes that may be held; what is held already stays when it becomes less.
    package var limit: Int {
        get { maxBytes.load(ordering: .relaxed) }
        set { maxBytes.store(newValue, ordering: .relaxed) }
    }

    /// The bytes that are held.
    package var used: Int { held.load(ordering: .relaxed) }

    /// Whether more is held than may be: new calls have to be rejected.
    package var isExhausted: Bool { used > limit }

    /// Whether a quarter more is held than may be.
    package var isFarExceeded: Bool { used - limit > limit / 4 }

    /// For how long nobody has to have taken anything of what a call holds for the call to be stalled, longest
    /// first; a shorter time counts only where a longer one frees too little.
    package var patience: [Duration] {
        let usual = [.second, 100 * Duration.millisecond]
        return isFarExceeded ? usual + [10 * .millisecond] : usual
    }

    /// The bytes that are to be given up for there to be room for new calls again: an eighth of the limit is.
    package var excess: Int { used - (limit - limit / 8) }

    /// The bytes that may still be held.
    var room: Int {
        let (left, isUnlimited) = limit.subtractingReportingOverflow(used)
        return isUnlimited ? .max : max(0, left)
    }

    /// Adds to what is held, whether or not that is within the limit; takes away below zero.
    func add(_ bytes: Int) {
        held.add(bytes, ordering: .relaxed)
    }

    /// The bytes from which on no head is waited for that has come in part: a quarter is left to requests that come whole.
    private var headLimit: Int { limit - limit / 4 }

    /// Whether so much is held that heads which have come in part get no more.
    var isFullForHeads: Bool { used > headLimit }

    /// Adds to what is held for a head, if there is room.
    fileprivate func acquire(_ bytes: Int) -> Bool {
        guard held.add(bytes, ordering: .relaxed).newValue > headLimit else { return true }
        held.subtract(bytes, ordering: .relaxed)
        return false
    }

    fileprivate func release(_ bytes: Int) {
        held.subtract(bytes, ordering: .relaxed)
    }
}

/// What one holder has of a `MemoryBudget`, in steps of 4 KiB, so that threads seldom meet there.
///
/// Its owner releases it before it goes.
struct MemoryShare {
    private static let step = 4096

    /// The bytes that count.
    private(set) var bytes = 0

    /// Has at least `count` bytes from now on.
    ///
    /// - Returns: false if the budget does not have them; the share is as it was then.
    mutating func grow(to count: Int, of budget: MemoryBudget) -> Bool {
        guard count > bytes else { return true }
        let more = (count - bytes + Self.step - 1) / Self.step * Self.step
        guard budget.acquire(more) else { return false }
        bytes += more
        return true
    }

    /// Gives all of it back.
    mutating func release(to budget: MemoryBudget) {
        guard bytes > 0 else { return }
        budget.release(bytes)
        bytes = 0
    }
}
