internal import Bytes
internal import Configuration
internal import Events
internal import HTTP
internal import Policy
internal import Protocols
internal import RPC
internal import Resolver
internal import Time

/// Spreads the calls of an upstream over its addresses.
///
/// Belongs to the worker's thread.
final class Balancer {
    private unowned let upstream: Upstream
    private let finder: AddressFinder
    private let table: AddressTable
    private let settings: UpstreamAddressSettings
    private let key: Template?
    /// The codes that are failures of an address.
    private let failureCodes: [RPCCode]
    /// The addresses by priority, the first ones first.
    private var groups: [AddressGroup] = []
    private var byAddress: [SocketAddress: UpstreamAddress] = [:]
    /// Those that are no addresses of the upstream any more, and have connections yet.
    private var leaving: [UpstreamAddress] = []
    /// Those that wait for an address, and why.
    private var waiting: [Attempt] = []
    private var lastError = UpstreamError.connectTimeout
    private var timer: Timer?
    private var random: Xoshiro256
    private var turn: Int

    /// How often what waits is looked at.
    private static let patience = 100 * Duration.millisecond

    init(of upstream: Upstream, _ table: AddressTable, names: NameService, seed: UInt64) {
        (self.upstream, self.table) = (upstream, table)
        settings = upstream.settings.addresses
        finder = AddressFinder(upstream.settings, names: names, loop: upstream.context.loop)
        failureCodes = settings.ejection?.codes.compactMap { RPCCode(name: $0) } ?? []
        if case .hash(let text) = settings.balance {
            key = Template(text, at: settings.balanceMark, into: Diagnostics())
        } else {
            key = nil
        }
        random = Xoshiro256(state: (seed, seed &* 3 | 1, 7, 1))
        turn = Int(truncatingIfNeeded: seed & 0xffff)
        finder.changed = { [unowned self] in use($0) }
        finder.failed = { [unowned self] in noAddresses($0) }
    }

    deinit {
        timer?.cancel()
        // A look-up that is under way outlives it.
        (finder.changed, finder.failed) = ({ _ in }, { _ in })
    }

    private var now: Instant { upstream.context.loop.now }

    /// The addresses, and those that have connections yet.
    var addresses: [UpstreamAddress] { groups.flatMap(\.addresses) + leaving.filter(\.isInUse) }

    // MARK: Calls

    /// Finds a connection to one of the addresses.
    func acquire(for attempt: Attempt) {
        finder.use()
        guard let address = choose(attempt) else { return wait(attempt, lastError) }
        begin(attempt, at: address)
    }

    private func begin(_ attempt: Attempt, at address: UpstreamAddress) {
        var isProbe = false
        if let state = address.state, state.isTroubled {
            let chance = random.nextFraction()
            isProbe = state.change { [now] in $0.admit(at: now, chance: chance) }
            if isProbe { address.isProbed = true }
        }
        attempt.enter(address, isProbe: isProbe)
        upstream.acquire(for: attempt, at: address)
    }

    /// The attempt waits no more.
    func withdraw(_ attempt: Attempt) {
        waiting.removeAll { $0 === attempt }
        attempt.placement?.address?.withdraw(attempt)
    }

    // MARK: What becomes of calls

    /// An address could not be connected to: those that wait there go elsewhere.
    func connectFailed(_ address: UpstreamAddress, _ error: UpstreamError, _ seekers: [any ConnectionSeeker]) {
        lastError = error
        let text = error.error(upstream: upstream.settings.name, for: .http).message
        let (wasProbe, chance) = (address.isProbed, random.nextFraction())
        address.isProbed = false
        let isNew = address.state?.change(text) { [now] in
            $0.connectFailed(at: now, wasProbe: wasProbe, chance: chance)
        }
        if isNew == true { isOut(address, .connect, text) }
        finder.doubt()
        for case let attempt as Attempt in seekers where !attempt.isOver {
            attempt.placement?.leave(hasFailed: true)
            if let other = choose(attempt) {
                begin(attempt, at: other)
            } else {
                wait(attempt, error)
            }
        }
    }

    /// An address has been connected to.
    func connected(_ address: UpstreamAddress) {
        address.isProbed = false
        guard let state = address.state, state.isTroubled else { return }
        if state.change(nil, { $0.connected() }) { isBack(address) }
    }

    /// Whether the outcomes of calls put addresses out.
    var hearsOutcomes: Bool { settings.ejection != nil }

    /// Whether a response with an HTTP status is a failure of its address.
    func isFailure(status: Int) -> Bool { settings.ejection?.statuses.contains(status) ?? false }

    /// Whether a call that has ended with a code is one.
    func isFailure(code: RPCCode) -> Bool { failureCodes.contains(code) }

    /// An attempt has failed at an address, or has not.
    func report(_ address: UpstreamAddress, _ failure: String?, wasProbe: Bool) {
        guard let state = address.state, let ejection = settings.ejection else { return }
        guard let failure else {
            guard state.isTroubled else { return }
            if state.change(nil, { $0.succeeded(wasProbe: wasProbe) }) { isBack(address) }
            return
        }
        let (now, chance) = (now, random.nextFraction())
        let pauses = AddressHealth.Pauses(first: ejection.pause, max: ejection.maxPause)
        // Asked before, as the table looks at all states.
        let mayGo = !state.current.willEject(at: ejection.failures) || table.mayEject(share: ejection.share)
        let isNew = state.change(failure) {
            $0.failed(
                limit: ejection.failures,
                mayGo: mayGo,
                pauses,
                at: now,
                wasProbe: wasProbe,
                chance: chance
            )
        }
        if isNew { isOut(address, .calls, failure) }
    }

    private func isOut(_ address: UpstreamAddress, _ reason: AddressHealth.Reason, _ text: String) {
        table.noteOut(reason)
        guard let place = address.address else { return }
        upstream.note("upstream address is out", at: place, ("reason", text))
    }

    private func isBack(_ address: UpstreamAddress) {
        if let place = address.address { upstream.note("upstream address is back", at: place) }
    }

    // MARK: The choice

    /// Whether there is an address for a call that it has not tried.
    func hasUntried(by call: Call) -> Bool {
        let now = now
        return byAddress.values.contains { !$0.isOut(at: now) && !call.upstreamLeg.hasTried($0) }
    }

    /// The address for an attempt; none if there is none, or each has failed it.
    private func choose(_ attempt: Attempt) -> UpstreamAddress? {
        let hash = key.flatMap { Self.hash($0, attempt.call) }
        let needsUntried = attempt.placement?.needsUntried ?? false
        let hasTried = attempt.call.upstreamLeg.address != nil
        var filter = AddressFilter(for: attempt, at: now)
        for group in groups {
            filter.isForUntried = hasTried
            var found = pick(group, hash, filter)
            if found == nil, hasTried, !needsUntried {
                filter.isForUntried = false
                found = pick(group, hash, filter)
            }
            guard let found else { continue }
            _ = table.note(allOut: false)
            return found
        }
        guard !needsUntried else { return nil }
        // All are out: none is better than another.
        (filter.isForUntried, filter.allowsOut) = (false, true)
        for group in groups {
            guard let address = pick(group, hash, filter) else { continue }
            if table.note(allOut: true) { upstream.noteAllOut() }
            return address
        }
        return nil
    }

    private func pick(_ group: AddressGroup, _ hash: UInt64?, _ filter: AddressFilter) -> UpstreamAddress? {
        if let hash { return group.nearest(to: hash, filter) }
        guard settings.balance == .roundRobin else { return group.lessBusy(&random, filter) }
        turn &+= 1
        return group.next(from: turn, filter)
    }

    private static func hash(_ key: Template, _ call: Call) -> UInt64? {
        let value = key.value(for: call)
        return value.isEmpty ? nil : value.span.fnv1a
    }

    // MARK: Addresses

    private func use(_ found: [AddressFinder.Found]) {
        var kept: [SocketAddress: UpstreamAddress] = [:]
        for one in found {
            let old = byAddress[one.address]
            let isSame = old.map { $0.priority == one.priority && $0.weight == one.weight } ?? false
            kept[one.address] =
                isSame
                ? old
                : UpstreamAddress(
                    one.address,
                    table.state(of: one.address),
                    priority: one.priority,
                    weight: one.weight,
                    of: upstream
                )
        }
        let gone = byAddress.filter { kept[$0.key] !== $0.value }.values
        byAddress = kept
        groups = AddressGroup.all(found.compactMap { kept[$0.address] })
        table.keep(found.map(\.address))
        leaving.removeAll { !$0.isInUse }
        for address in gone {
            let moved = address.retire()
            if address.isInUse { leaving.append(address) }
            for case let attempt as Attempt in moved where !attempt.isOver {
                attempt.placement?.leave()
                acquire(for: attempt)
            }
        }
        serveWaiting()
    }

    private func noAddresses(_ error: ResolverError) {
        lastError = .unknownHost(error)
        upstream.noteUnknown(error, hasOld: !groups.isEmpty)
        guard groups.isEmpty, upstream.settings.connectWait == nil else { return }
        let failed = waiting
        waiting = []
        for attempt in failed where !attempt.isOver { attempt.failed(lastError) }
    }

    // MARK: Waiting

    /// There is no address now: the attempt waits for one as long as it may.
    private func wait(_ attempt: Attempt, _ error: UpstreamError) {
        let mayWait = upstream.settings.connectWait != nil || groups.isEmpty
        guard mayWait, attempt.placement?.needsUntried == false else { return attempt.failed(error) }
        guard waiting.count < upstream.settings.limits.waiting else { return attempt.failed(.tooManyWaiting) }
        attempt.placement?.waitsSince = now
        waiting.append(attempt)
        let timer = self.timer ?? Timer(on: upstream.context.loop.timers) { [unowned self] in lookAtWaiting() }
        self.timer = timer
        if waiting.count == 1 { timer.arm(after: Self.patience) }
    }

    private func lookAtWaiting() {
        finder.use()
        serveWaiting()
        let overdue = waiting.filter(isOverdue)
        waiting.removeAll { attempt in attempt.isOver || overdue.contains { $0 === attempt } }
        for attempt in overdue where !attempt.isOver { attempt.failed(lastError) }
        if !waiting.isEmpty { timer?.arm(after: Self.patience) }
    }

    private func isOverdue(_ attempt: Attempt) -> Bool {
        guard upstream.settings.connectWait == nil else { return attempt.waitsUntil <= now }
        guard let limit = upstream.settings.timeouts.connect, let placement = attempt.placement else { return false }
        return now - placement.waitsSince >= limit
    }

    /// Those that wait go to an address that is in.
    private func serveWaiting() {
        guard !groups.isEmpty, !waiting.isEmpty else { return }
        let all = waiting
        waiting = []
        for attempt in all where !attempt.isOver {
            attempt.placement?.removeFailures()
            if let address = choose(attempt), !address.isOut(at: now) {
                begin(attempt, at: address)
            } else {
                waiting.append(attempt)
            }
        }
    }

    func drain() {
        for address in addresses { address.drain() }
    }
}
