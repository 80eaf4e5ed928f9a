internal import Events
internal import Time

/// The attempts of a call that is sent to several addresses, as long as there is no response.
final class Hedge {
    let policy: HedgePolicy
    /// How many attempts more may begin.
    private(set) var left: Int
    /// The attempts beside that of the call.
    private(set) var rivals: [Attempt] = []
    private var timer: Timer?

    init(_ policy: HedgePolicy) { (self.policy, left) = (policy, policy.max) }

    /// Whether the next attempt has a time.
    var isArmed: Bool { timer?.isArmed ?? false }

    /// The next attempt is due after a pause.
    func arm(after pause: Duration, on timers: TimerWheel, due: @escaping () -> Void) {
        timer?.cancel()
        let timer = Timer(on: timers, action: due)
        self.timer = timer
        timer.arm(after: pause)
    }

    /// The next attempt begins.
    func use() { left -= 1 }

    /// No other attempt begins.
    func stop() {
        left = 0
        timer?.disarm()
    }

    /// An attempt runs beside that of the call.
    func add(_ rival: Attempt) { rivals.append(rival) }

    /// One does so no more.
    func remove(_ rival: Attempt) { rivals.removeAll { $0 === rival } }

    /// Nothing of it goes on: gives the attempts away.
    func end() -> [Attempt] {
        timer.take()?.cancel()
        defer { rivals = [] }
        return rivals
    }
}
