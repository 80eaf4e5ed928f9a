private import Synchronization

/// The memory that peers can make the process hold: the same object for all workers.
///
/// Safe on any thread. Who holds something keeps a `MemoryShare`.
package final class MemoryBudget: Sendable {
    private let taken = Atomic(0)
    private let most: Atomic<Int>

    /// Makes a budget of `limit` bytes.
    package init(limit: Int = .max) {
        most = Atomic(limit)
    }

    /// The bytes that may be held; what is held already stays when it becomes less.
    package var limit: Int {
        get { most.load(ordering: .relaxed) }
        set { most.store(newValue, ordering: .relaxed) }
    }

    /// The bytes that are held.
    package var used: Int { taken.load(ordering: .relaxed) }

    /// Adds to what is held, if that is within the limit.
    fileprivate func take(_ bytes: Int) -> Bool {
        guard taken.add(bytes, ordering: .relaxed).newValue > limit else { return true }
        taken.subtract(bytes, ordering: .relaxed)
        return false
    }

    fileprivate func give(_ bytes: Int) {
        taken.subtract(bytes, ordering: .relaxed)
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
        guard budget.take(more) else { return false }
        bytes += more
        return true
    }

    /// Gives all of it back.
    mutating func release(to budget: MemoryBudget) {
        guard bytes > 0 else { return }
        budget.give(bytes)
        bytes = 0
    }
}
