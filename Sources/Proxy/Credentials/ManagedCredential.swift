internal import Events
internal import Policy
internal import Time

/// One credential as its manager has it: at most one fetch is under way, and it has its time.
final class ManagedCredential {
    static let refreshAhead = 30 * Duration.second
    /// How long before its end it is fetched anew; counts from the next fetch on.
    var refreshAhead: Duration {
        get { schedule.ahead }
        set { schedule.ahead = max(.zero, newValue) }
    }

    private let source: CredentialSource
    /// Whether the configuration names it, so that it is kept fresh.
    var isNamed = false {
        didSet { isRetired = !isNamed && (oldValue || isRetired) }
    }
    /// Whether a configuration of before has named it.
    private(set) var isRetired = false
    private let loop: EventLoop
    private let fetcher: Fetcher
    private let random: () -> Double
    private let turns: FetchTurns
    private let changed: (CredentialState, CredentialError?) -> Void
    private(set) var state = CredentialState()
    /// When it was last asked for.
    private(set) var lastNeeded = Instant.start
    private(set) var succeeded = 0
    private(set) var failed = 0
    private var schedule: RefreshSchedule
    private var fetch: CredentialFetch?
    private var timer: Timer?
    /// Before that nobody is asked again.
    private var restUntil = Instant.start
    /// Somebody waits for another fetch.
    private var isNeeded = false
    private var rejections = RejectionBudget()

    init(
        _ source: CredentialSource,
        refreshAhead: Duration,
        loop: EventLoop,
        fetcher: Fetcher,
        random: @escaping () -> Double,
        turns: FetchTurns = FetchTurns(1),
        changed: @escaping (CredentialState, CredentialError?) -> Void
    ) {
        self.source = source
        self.loop = loop
        self.fetcher = fetcher
        self.random = random
        self.turns = turns
        self.changed = changed
        schedule = RefreshSchedule(ahead: refreshAhead)
    }

    deinit {
        end()
    }

    var isFetching: Bool { fetch != nil }

    /// Whether it is being fetched, or waits for that.
    var isInUse: Bool { isFetching || isNeeded }

    /// Fetches nothing any more.
    func end() {
        timer?.cancel()
        if fetch != nil { turns.release() }
        fetch?.cancel()
        (timer, fetch) = (nil, nil)
    }

    /// Fetches it unless there is one.
    func fetchIfNeeded() {
        if state.credential == nil { start() } else { changed(state, nil) }
    }

    /// Somebody needs it, or will soon.
    func request() {
        lastNeeded = loop.now
        let now = Clock.wall
        // Whoever asks is told when the fetch is over.
        guard state.credential != nil, !state.isSuspect else { return fetchForSomebody() }
        let refresh = state.refresh ?? .max
        if now >= refresh { return fetchForSomebody() }
        guard now >= state.usableUntil else { return changed(state, nil) }
        // It ends before it may be fetched again.
        isNeeded = true
        arm(at: loop.now + (refresh - now))
    }

    /// An upstream has rejected a value of it.
    ///
    /// The value stays until the fetch is over: other upstreams may accept it.
    func rejected(_ value: [UInt8], by upstream: String) {
        lastNeeded = loop.now
        guard let credential = state.credential else { return fetchForSomebody() }
        guard credential.value == value else { return changed(state, nil) }
        if state.isSuspect { return fetchForSomebody() }
        guard loop.now >= restUntil, rejections.spend(upstream, at: loop.now) else { return changed(state, nil) }
        state.isSuspect = true
        fetchForSomebody()
    }

    /// An upstream has accepted what was fetched since it rejected the value before.
    func accepted(by upstream: String) {
        rejections.mended(upstream, at: loop.now)
    }

    private func fetchForSomebody() {
        isNeeded = true
        start()
    }

    private func start() {
        guard fetch == nil else { return }
        guard loop.now >= restUntil else { return arm(at: restUntil) }
        guard turns.acquire(always: isNamed) else { return arm(at: loop.now + FetchTurns.pause) }
        isNeeded = false
        let fetch = CredentialFetch(source, with: fetcher, on: loop) { [unowned self] in ended($0) }
        self.fetch = fetch
        fetch.start()
    }

    private func ended(_ result: Result<Credential, CredentialError>) {
        if let fetch { loop.keep(fetch) }
        fetch = nil
        turns.release()
        let now = Clock.wall
        switch result {
        case .success(let credential):
            succeeded += 1
            isNeeded = false
            schedule.succeeded()
            restUntil = .start
            state = CredentialState(credential, at: now)
            if let pause = schedule.pause(fetched: now, expiry: credential.expiry, random: random()) {
                state.refresh = now + pause
                if isNamed { arm(at: loop.now + pause) }
            }
            changed(state, nil)
        case .failure(let error):
            failed += 1
            state.error = error
            if state.isSuspect {
                state.isSuspect = false
                isNeeded = true
            }
            if let expiry = state.credential?.expiry, expiry <= now { state.credential = nil }
            let pause = schedule.failed(random: random(), retryAfter: error.retryAfter)
            restUntil = loop.now + pause
            state.retry = now + pause
            if isNamed || isNeeded { arm(at: restUntil) }
            changed(state, error)
        }
    }

    private func arm(at time: Instant) {
        let timer = self.timer ?? Timer(on: loop.timers) { [unowned self] in if isNamed || isNeeded { start() } }
        self.timer = timer
        timer.arm(at: time)
    }
}

/// How many fetches may be under way at once; those of credentials that the configuration names always may.
final class FetchTurns {
    /// How long one that has to wait does so.
    static let pause = 20 * Duration.millisecond
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
