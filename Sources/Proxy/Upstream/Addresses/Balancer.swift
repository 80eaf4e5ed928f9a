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
    private var waiting: [any ConnectionSeeker] = []
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
    func acquire(for seeker: any ConnectionSeeker) {
        finder.use()
        guard let placement = seeker.placement else { return seeker.failed(.connectTimeout) }
        guard !groups.isEmpty, let address = choose(placement) else { return wait(seeker, placement, lastError) }
        begin(seeker, placement, at: address)
    }

    private func begin(_ seeker: any ConnectionSeeker, _ placement: Placement, at address: UpstreamAddress) {
        let chance = random.nextFraction()
        let isProbe = address.state?.change { [now] in $0.admit(at: now, chance: chance) } ?? false
        if isProbe { address.isProbed = true }
        placement.enter(address, isProbe: isProbe)
        upstream.acquire(for: seeker, at: address)
    }

    /// The attempt waits no more.
    func withdraw(_ seeker: any ConnectionSeeker) {
        waiting.removeAll { $0 === seeker }
        seeker.placement?.address?.withdraw(seeker)
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
        for seeker in seekers where !seeker.isOver {
            guard let placement = seeker.placement else { continue }
            placement.leave(hasFailed: true)
            if let other = choose(placement) {
                begin(seeker, placement, at: other)
            } else {
                wait(seeker, placement, error)
            }
        }
    }

    /// An address has been connected to.
    func connected(_ address: UpstreamAddress) {
        address.isProbed = false
        if address.state?.change(nil, { $0.connected() }) == true { isBack(address) }
    }

    /// Whether a response with an HTTP status is a failure of its address.
    func isFailure(status: Int) -> Bool { settings.ejection?.statuses.contains(status) ?? false }

    /// Whether a call that has ended with a code is one.
    func isFailure(code: RPCCode) -> Bool { failureCodes.contains(code) }

    /// An attempt has failed at an address, or has not.
    func report(_ address: UpstreamAddress, _ failure: String?, wasProbe: Bool) {
        guard let state = address.state, let ejection = settings.ejection else { return }
        guard let failure else {
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
        let (now, tried) = (now, call.upstreamLeg.addresses)
        return byAddress.values.contains { $0.state?.isOut(at: now) != true && $0.address.map(tried.contains) == false }
    }

    /// The address for an attempt; none if each has failed it.
    private func choose(_ placement: Placement) -> UpstreamAddress? {
        let now = now
        let hash = key.flatMap { Self.hash($0, placement.call) }
        let fits = { (address: UpstreamAddress) in
            address.state?.isOut(at: now) != true && !placement.hasFailed(at: address)
        }
        let hasTried = !placement.call.upstreamLeg.addresses.isEmpty
        for group in groups {
            let isNew = hasTried ? { fits($0) && !placement.hasTried($0) } : fits
            let mayRepeat = hasTried && !placement.needsUntried
            if let address = pick(group, hash, isNew) ?? (mayRepeat ? pick(group, hash, fits) : nil) {
                if table.isAllOut { _ = table.note(allOut: false) }
                return address
            }
        }
        guard !placement.needsUntried else { return nil }
        // All are out: none is better than another.
        for group in groups {
            guard let address = pick(group, hash, { !placement.hasFailed(at: $0) }) else { continue }
            if table.note(allOut: true) { upstream.noteAllOut() }
            return address
        }
        return nil
    }

    private func pick(
        _ group: AddressGroup,
        _ hash: UInt64?,
        _ fits: (UpstreamAddress) -> Bool
    ) -> UpstreamAddress? {
        if let hash { return group.nearest(to: hash, fits) }
        guard settings.balance == .roundRobin else { return group.lessBusy(&random, fits) }
        turn &+= 1
        return group.next(from: turn, fits)
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
            for seeker in moved where !seeker.isOver {
                seeker.placement?.leave()
                acquire(for: seeker)
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
        for seeker in failed where !seeker.isOver { seeker.failed(lastError) }
    }

    // MARK: Waiting

    /// There is no address now: the attempt waits for one as long as it may.
    private func wait(_ seeker: any ConnectionSeeker, _ placement: Placement, _ error: UpstreamError) {
        let mayWait = upstream.settings.connectWait != nil || groups.isEmpty
        guard mayWait, !placement.needsUntried else { return seeker.failed(error) }
        guard waiting.count < upstream.settings.limits.waiting else { return seeker.failed(.tooManyWaiting) }
        placement.waitsSince = now
        waiting.append(seeker)
        let timer = self.timer ?? Timer(on: upstream.context.loop.timers) { [unowned self] in lookAtWaiting() }
        self.timer = timer
        if waiting.count == 1 { timer.arm(after: Self.patience) }
    }

    private func lookAtWaiting() {
        finder.use()
        serveWaiting()
        let overdue = waiting.filter(isOverdue)
        waiting.removeAll { seeker in seeker.isOver || overdue.contains { $0 === seeker } }
        for seeker in overdue where !seeker.isOver { seeker.failed(lastError) }
        if !waiting.isEmpty { timer?.arm(after: Self.patience) }
    }

    private func isOverdue(_ seeker: any ConnectionSeeker) -> Bool {
        guard upstream.settings.connectWait == nil else { return seeker.waitsUntil <= now }
        guard let limit = upstream.settings.timeouts.connect, let placement = seeker.placement else { return false }
        return now - placement.waitsSince >= limit
    }

    /// Those that wait go to an address that is in.
    private func serveWaiting() {
        guard !groups.isEmpty, !waiting.isEmpty else { return }
        let all = waiting
        waiting = []
        for seeker in all where !seeker.isOver {
            guard let placement = seeker.placement else { continue }
            placement.forgetFailures()
            if let address = choose(placement), address.state?.isOut(at: now) != true {
                begin(seeker, placement, at: address)
            } else {
                waiting.append(seeker)
            }
        }
    }

    func drain() {
        for address in addresses { address.drain() }
    }
}
