private import Synchronization

/// One rejection of a credential's value by an upstream.
///
/// A worker makes it and sends it to the main thread. It comes back in the `CredentialState` that decides on it. A state
/// that was sent before the main thread knew of the rejection does not have it, so the worker cannot mistake one for the
/// other.
package struct CredentialRejection: Equatable, Sendable {
    private static let count = Atomic<Int>(0)

    /// The name of the upstream, which is the same on all workers, and after a reload.
    package let upstream: String
    /// Differs from that of every other rejection in the process.
    private let number: Int

    /// Makes a rejection that is equal to no other.
    package init(by upstream: String) {
        self.upstream = upstream
        number = Self.count.add(1, ordering: .relaxed).newValue
    }
}
