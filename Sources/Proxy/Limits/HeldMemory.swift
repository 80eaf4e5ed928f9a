private import Synchronization

/// What one holder has of a `MemoryBudget`, returned to the budget with the object.
///
/// Safe on any thread.
final class HeldMemory: Sendable {
    private let held = Atomic(0)
    private let budget: MemoryBudget

    /// Creates a share of no bytes.
    init(of budget: MemoryBudget) { self.budget = budget }

    deinit { budget.add(-bytes) }

    /// The bytes that count.
    var bytes: Int { held.load(ordering: .relaxed) }

    /// Whether more is held by all than `limits.memory` allows.
    var isExhausted: Bool { budget.isExhausted }

    /// Adds to what is held, within the limit or not.
    func add(_ bytes: Int) {
        held.add(bytes, ordering: .relaxed)
        budget.add(bytes)
    }
}
