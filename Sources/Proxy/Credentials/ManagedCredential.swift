internal import Credentials
internal import Events
internal import Policy
internal import Time

/// One credential on the main thread: does what its `CredentialMachine` says.
final class ManagedCredential {
    private let source: CredentialSource
    private let loop: EventLoop
    private let fetcher: Fetcher
    private let random: () -> Double
    private let turns: FetchTurns
    private let onChange: (CredentialState, CredentialError?) -> Void
    private(set) var machine = CredentialMachine()
    private var fetch: CredentialFetch?
    private var timer: Timer?

    /// Makes one that fetches nothing yet.
    ///
    /// - Parameters:
    ///   - source: where it comes from.
    ///   - loop: the loop of the thread.
    ///   - fetcher: makes the requests.
    ///   - random: a random number from 0 up to, and without, 1.
    ///   - turns: how many fetches may be in progress at once.
    ///   - onChange: receives what the workers should know, and the error of a fetch that has just failed.
    init(
        _ source: CredentialSource,
        loop: EventLoop,
        fetcher: Fetcher,
        random: @escaping () -> Double,
        turns: FetchTurns = FetchTurns(1),
        onChange: @escaping (CredentialState, CredentialError?) -> Void
    ) {
        self.source = source
        self.loop = loop
        self.fetcher = fetcher
        self.random = random
        self.turns = turns
        self.onChange = onChange
    }

    deinit {
        end()
    }

    /// Fetches nothing any more.
    func end() {
        timer?.cancel()
        if fetch != nil { turns.release() }
        fetch?.cancel()
        (timer, fetch) = (nil, nil)
    }

    // MARK: What happens

    /// The configuration names it, so that it is kept fresh.
    func name(refreshAhead: Duration) {
        perform(machine.named(refreshAhead: refreshAhead, at: loop.now))
    }

    /// The configuration does not name it.
    func unname() {
        perform(machine.unnamed())
    }

    /// A call needs it, or soon will.
    func request() {
        perform(machine.requested(at: loop.now))
    }

    /// An upstream has rejected a value of it.
    func rejected(_ value: [UInt8], _ rejection: CredentialRejection) {
        perform(machine.rejected(value, rejection, at: loop.now))
    }

    /// An upstream has accepted what was fetched since it rejected the value before.
    func accepted(by upstream: String) {
        machine.accepted(by: upstream, at: loop.now)
    }

    // MARK: What is done

    private func perform(_ actions: CredentialMachine.Actions) {
        switch actions.timer {
        case .keep: break
        case .arm(let time): arm(at: time)
        case .disarm: timer?.disarm()
        }
        if actions.startsFetch { startFetch() }
        if let state = actions.published { onChange(state, actions.logged) }
    }

    private func startFetch() {
        guard turns.acquire(always: machine.naming == .named) else {
            return perform(machine.postponed(at: loop.now))
        }
        let fetch = CredentialFetch(source, with: fetcher, on: loop) { [unowned self] in finish($0) }
        self.fetch = fetch
        fetch.start()
    }

    private func finish(_ result: Result<Credential, CredentialError>) {
        if let fetch { loop.keep(fetch) }
        fetch = nil
        turns.release()
        perform(machine.fetched(result, at: loop.now, loop.clock.wall, random: random()))
    }

    private func arm(at time: Instant) {
        let timer =
            self.timer
            ?? Timer(on: loop.timers) { [unowned self] in
                perform(machine.tick(at: loop.now))
            }
        self.timer = timer
        timer.arm(at: time)
    }
}

/// How many fetches may be under way at once; those of credentials that the configuration names always may.
final class FetchTurns {
    private let maxCount: Int
    private var taken = 0

    /// Makes turns for so many at once.
    init(_ maxCount: Int) {
        self.maxCount = maxCount
    }

    /// Takes a turn, if there is one or it is taken anyway.
    func acquire(always: Bool) -> Bool {
        guard always || taken < maxCount else { return false }
        taken += 1
        return true
    }

    /// Gives a turn back.
    func release() { taken -= 1 }
}
