private import Synchronization

/// How many bytes the spools of an upstream have in files, in the process.
///
/// All workers share it, and a reload keeps it. Safe on any thread.
package final class SpoolBudget: Sendable {
    private let bytes = Atomic(0)

    /// No file has anything.
    package init() {}

    /// Has `count` bytes more, if that is within the limit.
    func acquire(_ count: Int, limit: Int) -> Bool {
        guard bytes.add(count, ordering: .relaxed).newValue > limit else { return true }
        release(count)
        return false
    }

    /// Gives bytes back.
    func release(_ count: Int) { bytes.subtract(count, ordering: .relaxed) }
}
