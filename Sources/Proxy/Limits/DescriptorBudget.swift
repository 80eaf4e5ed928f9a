private import Synchronization

/// How many file descriptors of the process callers' connections may take: the same object for all workers.
///
/// A quarter of the descriptors, at least 32 and at most 4096, is reserved for what serves those callers: connections to
/// upstreams, the admin socket, log files. From the rest on, connections of callers are closed that are idle; while those
/// go, or if there are none, callers take up to half of the reserve, and no more. The last descriptors of all are neither
/// for callers nor for connections to upstreams, so that an operator can always look. Safe on any thread.
package final class DescriptorBudget: Sendable {
    /// The descriptors of the process.
    package let limit: Int
    /// Those that are kept from callers' connections, but for half of them in need.
    package let reserve: Int
    /// The number of the first descriptor that is neither for a caller nor for a connection to an upstream.
    package let firstOfLast: Int
    /// The number of the first descriptor at which the last ones are near, whatever has taken the others.
    ///
    /// The system gives the lowest number that is free, so all below the number of a new descriptor are taken.
    private let firstOfFew: Int
    private let openCount = Atomic(0)
    private let leaving = Atomic(0)

    /// Makes the budget of a process that may have `limit` descriptors.
    package convenience init(limit: Int) {
        self.init(limit: limit, firstOfLast: nil)
    }

    /// Makes a budget; `firstOfLast` is for tests, whose process has descriptors of others.
    init(limit: Int, firstOfLast: Int?) {
        self.limit = limit
        reserve = min(max(limit / 4, 32), 4096, limit / 2)
        let last = min(max(reserve / 4, 8), 64)
        self.firstOfLast = firstOfLast ?? limit - last
        firstOfFew = self.firstOfLast - last
    }

    /// The connections of callers from which on idle ones are closed.
    package var callerShare: Int { limit - reserve }

    /// The open connections of callers.
    package var used: Int { openCount.load(ordering: .relaxed) }

    /// How many connections more than their share callers have, without those that are being closed; else below zero.
    var excess: Int { used - leaving.load(ordering: .relaxed) - callerShare }

    /// How many connections are to be closed for one with the descriptor `number`, beside those that are being closed; below
    /// zero if none are.
    func excess(at number: Int) -> Int {
        max(excess, number - leaving.load(ordering: .relaxed) - firstOfFew)
    }

    /// Counts one more connection of a caller, if it may take a descriptor.
    func acquire() -> Bool {
        guard openCount.add(1, ordering: .relaxed).oldValue >= limit - reserve / 2 else { return true }
        openCount.subtract(1, ordering: .relaxed)
        return false
    }

    /// An open connection is about to be closed.
    func leave() {
        leaving.add(1, ordering: .relaxed)
    }

    /// A connection is closed; `hasLeft` says whether that was announced.
    func release(hasLeft: Bool) {
        if hasLeft { leaving.subtract(1, ordering: .relaxed) }
        openCount.subtract(1, ordering: .relaxed)
    }
}
