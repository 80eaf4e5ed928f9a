package import Bytes
internal import Events
internal import Policy
private import Synchronization
package import Time

/// What the process knows of the addresses of one upstream: all workers share it, and a reload keeps it.
///
/// Safe on any thread.
package final class AddressTable: Sendable {
    private struct Content {
        var states: [SocketAddress: State] = [:]
        /// How often addresses have been put out, by reason.
        var ejections: [AddressHealth.Reason: Int] = [:]
        /// The addresses that the upstream has now.
        var current: Set<SocketAddress> = []
        /// How many health checks have come to what.
        var checks: [String: Int] = [:]
    }

    /// One address; as long as a worker has it.
    package final class State: Sendable {
        /// The address.
        package let address: SocketAddress
        private let health = Locked(AddressHealth())
        /// What calls and checks have failed with last, for people.
        private let errors = Locked<(calls: String?, check: String?)>((nil, nil))
        private let troubled = Atomic(false)

        fileprivate init(_ address: SocketAddress) { self.address = address }

        /// What is known.
        var current: AddressHealth { health.withLock { $0 } }

        /// Why it gets no calls, for people, and until when; as long as its checks fail if there is no time.
        package var out: (reason: String, until: Instant?)? {
            let (current, errors) = (current, errors.withLock { $0 })
            if current.isDown { return ("health check: \(errors.check ?? "failed")", nil) }
            return current.out.map { (errors.calls ?? "no connection", $0.until) }
        }

        /// Whether there is something that a success could mend; asked for each call, and so without the lock.
        var isTroubled: Bool { troubled.load(ordering: .relaxed) }

        func isOut(at now: Instant) -> Bool { isTroubled && health.withLock { $0.isOut(at: now) } }

        func change<Result>(_ error: String? = nil, _ body: (inout AddressHealth) -> Result) -> Result {
            if let error { errors.withLock { $0.calls = error } }
            return health.withLock { health in
                defer { troubled.store(health.isTroubled, ordering: .relaxed) }
                return body(&health)
            }
        }

        /// Its health checks have come to something.
        ///
        /// - Parameters:
        ///   - isDown: whether it gets no calls.
        ///   - failure: what the last one has failed with, if it has.
        /// - Returns: whether that is new.
        func check(isDown: Bool, _ failure: String? = nil) -> Bool {
            if let failure { errors.withLock { $0.check = failure } }
            return change { $0.checked(isDown: isDown) }
        }
    }

    /// The name of the upstream.
    package let name: String
    private let content = Locked(Content())
    private let allOut = Atomic(false)

    init(_ name: String) { self.name = name }

    /// The state of an address, made if there is none.
    func state(of address: SocketAddress) -> State {
        content.withLock { content in
            if let known = content.states[address] { return known }
            let new = State(address)
            content.states[address] = new
            return new
        }
    }

    /// The upstream has these addresses; what is known of others is of no use.
    func keep(_ addresses: [SocketAddress]) {
        let kept = Set(addresses)
        content.withLock { content in
            content.current = kept
            // Another worker may know of addresses that this one does not know yet.
            guard content.states.count > 2 * kept.count + 16 else { return }
            content.states = content.states.filter { kept.contains($0.key) }
        }
    }

    /// Whether another address can be put out because of its calls, so that no more than a share of all is.
    func mayEject(share: Int) -> Bool {
        let current = content.withLock { content in content.current.compactMap { content.states[$0] } }
        let ejected = current.count { $0.current.out?.reason == .calls }
        return ejected < max(1, current.count * share / 100)
    }

    /// An address was put out.
    func noteOut(_ reason: AddressHealth.Reason) { content.withLock { $0.ejections[reason, default: 0] += 1 } }

    /// No address was in for a call, or one was.
    ///
    /// - Returns: whether that is new.
    func note(allOut: Bool) -> Bool {
        guard allOut != self.allOut.load(ordering: .relaxed) else { return false }
        return self.allOut.exchange(allOut, ordering: .relaxed) != allOut
    }

    /// Nobody checks the address any more.
    func removeCheck(of address: SocketAddress) {
        let state = content.withLock { $0.states[address] }
        _ = state?.check(isDown: false)
    }

    /// A health check has ended.
    func noteCheck(_ result: String) { content.withLock { $0.checks[result, default: 0] += 1 } }

    /// All addresses that are known, in order.
    package var states: [State] {
        let states = content.withLock { Array($0.states.values) }
        return states.sorted { "\($0.address)" < "\($1.address)" }
    }

    /// Whether the upstream has an address now.
    package func has(_ address: SocketAddress) -> Bool { content.withLock { $0.current.contains(address) } }

    /// How often addresses were put out, by reason.
    package var ejections: [(reason: String, count: Int)] {
        let counts = content.withLock { $0.ejections }
        return [
            ("connect", counts[.connect] ?? 0), ("calls", counts[.calls] ?? 0), ("health", counts[.health] ?? 0),
        ]
    }

    /// How many health checks have come to what.
    package var checks: [(result: String, count: Int)] {
        content.withLock(\.checks).map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }
    }
}
