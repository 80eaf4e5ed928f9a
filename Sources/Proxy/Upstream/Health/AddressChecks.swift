internal import Configuration
internal import Events
internal import Policy
internal import Time

/// The health checks of one address, one after the other.
final class AddressChecks {
    private let place: UpstreamAddress
    private let upstream: Upstream
    private let settings: UpstreamHealthSettings
    private let token: () -> [UInt8]?
    private let random: () -> Double
    private let done: (HealthResponse.Result, Bool) -> Void
    private var checks: HealthChecks
    private var probe: HealthProbe?
    private var timer: Timer?

    /// Makes them.
    ///
    /// - Parameters:
    ///   - place: the address.
    ///   - upstream: what it belongs to.
    ///   - settings: how it is checked.
    ///   - isDown: whether checks before these have put it out.
    ///   - token: what is sent as `authorization`, if anything is.
    ///   - random: a random number from 0 up to, and without, 1.
    ///   - done: told of the end of each check, and whether the address is down then.
    init(
        _ place: UpstreamAddress,
        _ upstream: Upstream,
        _ settings: UpstreamHealthSettings,
        isDown: Bool,
        token: @escaping () -> [UInt8]?,
        random: @escaping () -> Double,
        done: @escaping (HealthResponse.Result, Bool) -> Void
    ) {
        (self.place, self.upstream, self.settings, self.token) = (place, upstream, settings, token)
        (self.random, self.done) = (random, done)
        checks = HealthChecks(up: settings.up, down: settings.down, isDown: isDown)
        // A connection that is kept says nothing of whether others can be made.
        place.drain()
    }

    /// The first check begins within a time.
    func start(after longest: Duration) {
        let timer = Timer(on: upstream.context.loop.timers) { [unowned self] in check() }
        self.timer = timer
        timer.arm(after: .nanoseconds(Int64(Double(longest.nanoseconds) * random())))
    }

    /// Checks nothing any more.
    func end() {
        timer.take()?.cancel()
        probe.take()?.cancel()
    }

    private func check() {
        let pause = Double(settings.interval.nanoseconds) * (0.9 + 0.2 * random())
        timer?.arm(after: .nanoseconds(Int64(pause)))
        // A time limit as long as the pause may not be over yet.
        guard probe == nil else { return }
        let probe = HealthProbe(of: place, upstream, settings, token: token()) { [unowned self] in ended($0) }
        self.probe = probe
        probe.start()
    }

    private func ended(_ result: HealthResponse.Result?) {
        probe = nil
        guard let result else { return }
        if case .down = result { checks.note(hasSucceeded: false) } else { checks.note(hasSucceeded: true) }
        done(result, checks.isDown)
    }
}
