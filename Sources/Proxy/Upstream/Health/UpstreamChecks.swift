internal import Bytes
internal import Configuration
internal import Events
internal import Policy
internal import Telemetry
internal import Time

/// The health checks of the addresses of one upstream.
///
/// Belongs to the thread of its loop.
final class UpstreamChecks {
    let plan: HealthPlan
    private let table: AddressTable
    private let token: (String) -> [UInt8]?
    private let logLimiter: LogLimiter
    private let context: WireContext
    private let upstream: Upstream
    private let finder: AddressFinder
    private var checks: [SocketAddress: AddressChecks] = [:]
    /// Those that do not know what they are asked.
    private var unknown: Set<SocketAddress> = []
    private var timer: Timer?
    private var random = Xoshiro256()

    /// First checks do not all begin at once: so long after each other.
    private static let firstPause = 10 * Duration.millisecond

    init(
        _ plan: HealthPlan,
        _ table: AddressTable,
        context: WireContext,
        names: NameService,
        token: @escaping (String) -> [UInt8]?,
        logLimiter: LogLimiter
    ) {
        (self.plan, self.table, self.context) = (plan, table, context)
        (self.token, self.logLimiter) = (token, logLimiter)
        upstream = Upstream(
            plan.upstream.withoutConnectWait,
            context: context,
            network: SystemNetwork(),
            names: names,
            counter: WorkerCounters().upstream("health"),
            events: .uncounted,
            logLimiter: LogLimiter(loop: context.loop) { _ in },
            tls: plan.tls
        )
        finder = AddressFinder(plan.upstream, names: names, loop: context.loop)
        finder.changed = { [unowned self] in use($0.map(\.address)) }
        let timer = Timer(on: context.loop.timers) { [unowned self] in look() }
        self.timer = timer
        look()
    }

    /// Checks nothing any more.
    ///
    /// - Parameter isLast: whether no others check the same upstream from now on.
    func end(isLast: Bool) {
        timer.take()?.cancel()
        // A look-up that is under way outlives it.
        finder.changed = { _ in }
        for checks in checks.values { checks.end() }
        checks = [:]
        if isLast { table.removeChecks(except: []) }
    }

    private func look() {
        finder.use()
        timer?.arm(after: .second)
    }

    private func use(_ addresses: [SocketAddress]) {
        let current = Set(addresses)
        table.removeChecks(except: current)
        table.keep(addresses)
        for address in checks.keys where !current.contains(address) {
            checks.removeValue(forKey: address)?.end()
            unknown.remove(address)
        }
        let new = current.filter { checks[$0] == nil }
        let health = plan.health
        let longest = min(health.interval, new.count * Self.firstPause)
        for address in new {
            let place = UpstreamAddress(address, of: upstream)
            let checks = AddressChecks(
                place,
                upstream,
                health,
                isDown: table.state(of: address).current.isDown,
                token: { [token] in health.token.flatMap { token($0.text) } },
                random: { [unowned self] in random.nextFraction() },
                done: { [unowned self] in ended(address, $0, isDown: $1) }
            )
            self.checks[address] = checks
            checks.start(after: longest)
        }
    }

    /// A check has ended, and the address gets calls from now on, or none.
    private func ended(_ address: SocketAddress, _ result: HealthResponse.Result, isDown: Bool) {
        table.noteCheck(result.label)
        let state = table.state(of: address)
        let since = state.current.since
        let isConnected = result == .up && state.change(nil) { $0.connected() }
        let isNew = state.check(isDown: isDown, (result.label, result.text), at: context.loop.now)
        if case .unknown(let text) = result { noteUnknown(address, text) }
        if isDown, isNew {
            table.noteOut(.health)
            note("upstream address is out", address, [("reason", "health check: \(result.text)")])
        } else if isNew || isConnected {
            let time = "\(since.map { (context.loop.now - $0) / .millisecond } ?? 0)"
            note("upstream address is back", address, [("out_ms", time)], isWarning: false)
        }
    }

    /// Whoever has asked for checks should know that there are none.
    private func noteUnknown(_ address: SocketAddress, _ text: String) {
        guard unknown.insert(address).inserted else { return }
        note("health check without a result; the address counts as up", address, [("reason", text)])
    }

    private func note(
        _ text: String,
        _ address: SocketAddress,
        _ more: [(name: StaticString, value: String)],
        isWarning: Bool = true
    ) {
        let name = plan.upstream.name
        let fields = [("upstream", name), ("address", "\(address)")] + more
        logLimiter.note(text, about: "\(name) \(address)", fields, isWarning: isWarning)
    }
}
