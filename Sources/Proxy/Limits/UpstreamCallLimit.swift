internal import Events

/// How many calls of an upstream are under way in the process.
///
/// All workers share it, and a reload keeps it. Safe on any thread.
package final class UpstreamCallLimit: Sendable {
    private let count = Locked(0)

    /// No call is under way.
    package init() {}

    /// A call begins, if fewer than so many are under way.
    func enter(limit: Int) -> Bool {
        count.withLock { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
    }

    /// A call is over.
    func leave() { count.withLock { $0 -= 1 } }
}
