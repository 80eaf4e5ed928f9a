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
    private let loop: EventLoop
    private let finder: AddressFinder
    private let table: AddressTable
    private let settings: UpstreamAddressSettings
    private let key: Template?
    /// The buffer for the key of a call; empty between calls.
    private let keyBytes = ByteQueue(keeping: 256)
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
    private var probeTimer: Timer?
    private var isDraining = false
    private var random: Xoshiro256
    private var turn: Int

    /// How often what waits is looked at, and what is out.
    private static let patience = 100 * Duration.millisecond
    /// If all are out, so many are tried for a call: each may take its time.
    private static let maxFailures = 3

    init(of upstream: Upstream, _ table: AddressTable, names: NameService, seed: UInt64) {
        (self.upstream, self.table, loop) = (upstream, table, upstream.context.loop)
        settings = upstream.settings.addresses
        finder = AddressFinder(upstream.settings, names: names, loop: loop)
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
        finder.onExcess = { [unowned upstream] in upstream.logExcessAddresses($0) }
        // Those that take no look-up are shown, and a file that cannot be used is told of, before the first call.
        if settings.isKnownAtOnce { finder.use() }
    }

    deinit {
        timer?.cancel()
        probeTimer?.cancel()
        // A look-up that is under way outlives it.
        (finder.changed, finder.failed, finder.onExcess) = ({ _ in }, { _ in }, { _ in })
    }

    private var now: Instant { loop.now }

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
        // What this machine lacks says nothing of the address.
        let isNew =
            error.isLocal
            ? false
            : address.state?.change(text) { [now] in
                $0.connectFailed(at: now, wasProbe: wasProbe, chance: chance)
            }
        if isNew == true { isOut(address, .connect, text) }
        probeLater()
        finder.doubt()
        for case let attempt as Attempt in seekers where !attempt.isOver {
            attempt.call.count(error.result, of: upstream)
            attempt.placement?.leave(hasFailed: true)
            if attempt.waitsUntil <= now {
                attempt.failed(error)
            } else if let other = choose(attempt) {
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
        let since = state.current.since
        if state.change(nil, { $0.connected() }) { isBack(address, since) }
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
            let since = state.current.since
            if state.change(nil, { $0.succeeded(wasProbe: wasProbe) }) { isBack(address, since) }
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
        if isNew {
            let row = ejection.failures == 1 ? "1 failure" : "\(ejection.failures) failures in a row, the last"
            isOut(address, .calls, "\(row): \(failure)")
        } else if !mayGo {
            upstream.noteShare(address, failure)
        }
    }

    private func isOut(_ address: UpstreamAddress, _ reason: AddressHealth.Reason, _ text: String) {
        table.noteOut(reason)
        address.state?.note(text)
        guard let place = address.address else { return }
        upstream.note("upstream address is out", at: place, ("reason", text))
    }

    private func isBack(_ address: UpstreamAddress, _ since: Instant?) {
        guard let place = address.address else { return }
        let time = "\(since.map { (now - $0) / .millisecond } ?? 0)"
        upstream.note("upstream address is back", at: place, ("out_ms", time), isWarning: false)
    }

    // MARK: Probes

    /// An address cannot be connected to: another connection is made by and by, for which no call waits.
    private func probeLater() {
        let timer = probeTimer ?? Timer(on: loop.timers) { [unowned self] in probe() }
        probeTimer = timer
        if !timer.isArmed, !isDraining { timer.arm(after: Self.patience) }
    }

    private func probe() {
        let now = now
        var isAny = false
        for address in byAddress.values {
            guard let state = address.state, state.isTroubled, state.current.out?.reason == .connect else { continue }
            isAny = true
            let chance = random.nextFraction()
            if state.change(nil, { $0.admit(at: now, chance: chance) }) { address.probe(upstream.probeVersion) }
        }
        if isAny { probeLater() }
    }

    // MARK: The choice

    /// Whether there is an address for a call that it has not tried.
    func hasUntried(by call: Call) -> Bool {
        let now = now
        return byAddress.values.contains { !$0.isOut(at: now) && !call.upstreamLeg.hasTried($0) }
    }

    /// The address for an attempt; none if there is none, or each has failed it.
    private func choose(_ attempt: Attempt) -> UpstreamAddress? {
        let hash = key.flatMap { keyHash($0, attempt.call) }
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
        guard !needsUntried, mayUseOut(attempt) else { return nil }
        // All are out: none is better than another.
        (filter.isForUntried, filter.allowsOut) = (false, true)
        for group in groups {
            guard let address = pick(group, hash, filter) else { continue }
            if table.note(allOut: true) { upstream.noteAllOut() }
            return address
        }
        return nil
    }

    /// Whether an attempt goes to addresses that are out, as all are.
    private func mayUseOut(_ attempt: Attempt) -> Bool {
        guard let placement = attempt.placement, placement.failureCount < Self.maxFailures else { return false }
        // What can wait until there is a connection does not ask for one.
        guard upstream.settings.connectWait != nil else { return true }
        return byAddress.values.contains { $0.state?.current.out?.reason != .connect }
    }

    private func pick(_ group: AddressGroup, _ hash: UInt64?, _ filter: AddressFilter) -> UpstreamAddress? {
        if let hash { return group.nearest(to: hash, filter) }
        guard settings.balance == .roundRobin else { return group.lessBusy(&random, filter) }
        turn &+= 1
        return group.next(from: turn, filter)
    }

    private func keyHash(_ key: Template, _ call: Call) -> UInt64? {
        let bytes = keyBytes
        key.renderNormal(for: call, to: bytes)
        guard !bytes.isEmpty else { return nil }
        let hash = bytes.readable.fnv1a
        bytes.removeAll()
        return hash
    }

    // MARK: Addresses

    private func use(_ found: [AddressFinder.Found]) {
        var kept: [SocketAddress: UpstreamAddress] = [:]
        for one in found {
            let address =
                byAddress[one.address] ?? UpstreamAddress(one.address, table.state(of: one.address), of: upstream)
            (address.priority, address.weight) = (one.priority, one.weight)
            kept[one.address] = address
            if isDraining { address.drain() }
        }
        let gone = byAddress.filter { kept[$0.key] == nil }.values
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
        // Somebody else may have found that they cannot be connected to.
        if found.contains(where: { byAddress[$0.address]?.state?.current.out?.reason == .connect }) { probeLater() }
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
        attempt.placement?.wait(since: now, forName: groups.isEmpty)
        waiting.append(attempt)
        let timer = self.timer ?? Timer(on: upstream.context.loop.timers) { [unowned self] in lookAtWaiting() }
        self.timer = timer
        if waiting.count == 1 { timer.arm(after: Self.patience) }
    }

    private func lookAtWaiting() {
        finder.use()
        serveWaiting()
        let all = waiting
        waiting = all.filter { !$0.isOver && !isOverdue($0) }
        for attempt in all where !attempt.isOver && isOverdue(attempt) { attempt.failed(lastError) }
        if !waiting.isEmpty { timer?.arm(after: Self.patience) }
    }

    // MARK: Connections

    /// Closes a connection of another address that has no call.
    func closeIdle(_ version: HTTPVersion, besides address: UpstreamAddress) {
        for other in byAddress.values where other !== address {
            if other.pool(version).closeIdle() { return }
        }
    }

    /// An address has a connection less, and the upstream had as many as it may have.
    func connectionsHaveRoom(_ version: HTTPVersion, besides address: UpstreamAddress) {
        for other in byAddress.values where other !== address { other.pool(version).connectionsHaveRoom() }
    }

    /// How many attempts wait for an address.
    var waitingCount: Int { waiting.count }

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
            attempt.placement?.addressesAreKnown(at: now)
            if let address = choose(attempt), !address.isOut(at: now) {
                begin(attempt, at: address)
            } else {
                waiting.append(attempt)
            }
        }
    }

    /// Makes no new connections for later, whatever addresses there will be.
    func drain() {
        isDraining = true
        probeTimer?.disarm()
        for address in addresses { address.drain() }
    }
}
