package import Bytes
internal import Events
internal import Policy
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
        var isAllOut = false
    }

    /// One address; as long as a worker has it.
    package final class State: Sendable {
        /// The address.
        package let address: SocketAddress
        private let health = Locked(AddressHealth())
        private let lastError = Locked<String?>(nil)

        fileprivate init(_ address: SocketAddress) { self.address = address }

        /// What is known.
        var current: AddressHealth { health.withLock { $0 } }
        /// Until when it gets no calls, if it is out.
        package var outUntil: Instant? { current.out?.until }
        /// Why it is out, or what has failed last, for people.
        package var error: String? { lastError.withLock { $0 } }

        func isOut(at now: Instant) -> Bool { health.withLock { $0.isOut(at: now) } }

        func change<Result>(_ error: String? = nil, _ body: (inout AddressHealth) -> Result) -> Result {
            if let error { lastError.withLock { $0 = error } }
            return health.withLock(body)
        }
    }

    /// The name of the upstream.
    package let name: String
    private let content = Locked(Content())

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

    /// No address is in, or one is again.
    ///
    /// - Returns: whether that is new.
    func note(allOut: Bool) -> Bool {
        content.withLock { content in
            defer { content.isAllOut = allOut }
            return allOut && !content.isAllOut
        }
    }

    /// Whether no address was in when one was looked for last.
    var isAllOut: Bool { content.withLock(\.isAllOut) }

    /// All addresses that are known, in order.
    package var states: [State] {
        let states = content.withLock { Array($0.states.values) }
        return states.sorted { "\($0.address)" < "\($1.address)" }
    }

    /// How often addresses were put out, by reason.
    package var ejections: [(reason: String, count: Int)] {
        let counts = content.withLock { $0.ejections }
        return [("connect", counts[.connect] ?? 0), ("calls", counts[.calls] ?? 0)]
    }
}
