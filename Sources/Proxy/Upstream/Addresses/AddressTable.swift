package import Bytes
internal import Events
internal import Policy
private import Synchronization
package import Time

/// What the process knows of the addresses of one upstream: all workers share it, and a reload keeps it.
///
/// Safe on any thread.
package final class AddressTable: Sendable {
    /// A state that is kept for whoever comes, or as long as somebody has it.
    private struct Entry {
        var kept: State?
        weak var state: State?
    }

    private struct Content {
        var states: [SocketAddress: Entry] = [:]
        /// How often addresses have been put out, by reason.
        var ejections: [AddressHealth.Reason: Int] = [:]
        /// The addresses that the upstream has now.
        var current: Set<SocketAddress> = []
        /// How many health checks have come to what.
        var checks: [String: Int] = [:]
    }

    /// What is known of one address; all workers have the same.
    package final class State: Sendable {
        /// The address.
        package let address: SocketAddress
        private let health = Locked(AddressHealth())
        /// What calls and checks have failed with last, for people.
        private let errors = Locked<(calls: String?, check: (result: String, text: String)?)>((nil, nil))
        private let troubled = Atomic(false)

        fileprivate init(_ address: SocketAddress) { self.address = address }

        /// What is known.
        var current: AddressHealth { health.withLock { $0 } }

        /// What people are told of an address that gets no calls.
        package struct Out {
            /// Why.
            package let reason: String
            /// Since when.
            package let since: Instant
            /// When the next probe is due; none if health checks decide.
            package let until: Instant?
        }

        /// Why it gets no calls, if it gets none.
        package var out: Out? {
            let (current, errors) = (current, errors.withLock { $0 })
            guard let since = current.since else { return nil }
            guard !current.isDown else {
                return Out(reason: "health check: \(errors.check?.text ?? "failed")", since: since, until: nil)
            }
            return Out(reason: errors.calls ?? "no connection", since: since, until: current.out?.until)
        }

        /// What the last health check has come to, `up`, `unknown` or `down`, if there has been one.
        package var check: String? { errors.withLock { $0.check?.result } }

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

        /// What has failed last is said like this.
        func note(_ error: String) { errors.withLock { $0.calls = error } }

        /// A health check has come to something.
        ///
        /// - Parameters:
        ///   - isDown: whether the address gets no calls because of its checks.
        ///   - check: the result of the last one, and the words for it; none if there are no checks any more.
        ///   - now: the time.
        /// - Returns: whether the address is out by that and was in before, or the other way round.
        func check(isDown: Bool, _ check: (result: String, text: String)?, at now: Instant) -> Bool {
            errors.withLock { errors in
                // What has put it out is worth knowing until it is back.
                let text = check?.text.isEmpty == false ? check?.text : errors.check?.text
                errors.check = check.map { ($0.result, text ?? "") }
            }
            return change { $0.checked(isDown: isDown, at: now) }
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
            if let known = content.states[address]?.state { return known }
            let new = State(address)
            content.states[address] = Entry(kept: new, state: new)
            return new
        }
    }

    /// The upstream has these addresses; what is known of others stays as long as somebody uses them.
    func keep(_ addresses: [SocketAddress]) {
        let current = Set(addresses)
        content.withLock { content in
            content.current = current
            content.states = content.states.compactMapValues { entry in
                guard let state = entry.state else { return nil }
                return Entry(kept: current.contains(state.address) ? state : nil, state: state)
            }
        }
    }

    /// Whether another address can be put out because of its calls, so that no more than a share of all is.
    func mayEject(share: Int) -> Bool {
        let current = content.withLock { content in content.current.compactMap { content.states[$0]?.state } }
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

    /// Nobody checks other addresses than these any more: they count as up.
    func removeChecks(except checked: Set<SocketAddress>) {
        let states = content.withLock { $0.states.values.compactMap(\.state) }
        for state in states where state.check != nil && !checked.contains(state.address) {
            _ = state.check(isDown: false, nil, at: .start)
        }
    }

    /// A health check has ended.
    func noteCheck(_ result: String) { content.withLock { $0.checks[result, default: 0] += 1 } }

    /// All addresses that are known, in order.
    package var states: [State] {
        let states = content.withLock { $0.states.values.compactMap(\.state) }
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
