private import Synchronization

/// How many calls of an upstream are under way in the process.
///
/// All workers share it, and a reload keeps it. Safe on any thread.
package final class UpstreamCallLimit: Sendable {
    private let count = Atomic(0)

    /// No call is under way.
    package init() {}

    /// A call begins, if fewer than so many are under way.
    func enter(limit: Int) -> Bool {
        var known = count.load(ordering: .relaxed)
        while known < limit {
            let (isDone, original) = count.weakCompareExchange(expected: known, desired: known + 1, ordering: .relaxed)
            if isDone { return true }
            known = original
        }
        return false
    }

    /// A call is over.
    func leave() { count.wrappingSubtract(1, ordering: .relaxed) }
}
