internal import Policy
package import Time

/// When a credential is fetched, and what is known of it meanwhile.
///
/// Pure: it has no timer and does no I/O. Each input says what has happened and when, and returns what its owner has to do.
///
/// ```
///   ┌──────┐ ─── requested, rejected, named ──▶ ┌──────────┐
///   │ idle │                                    │ fetching │
///   └──────┘ ◀── fetched, and no more is due ── └──────────┘
///     ▲  │                                        ▲      │
///     │  │ named, or                        tick, │      │ fetched, and the next is due; or postponed
///     │  │ needed in a back-off         requested │      ▼
///     │  └───────────────────────────────────▶ ┌─────────────────┐
///     └─────────────────────────── unnamed ─── │ waiting(until:) │
///                                              └─────────────────┘
/// ```
///
/// A credential that the configuration names waits for its refresh; every other one is idle until a call needs it. After a
/// fetch that fails, the machine waits until its back-off is over, whoever needs the credential.
package struct CredentialMachine: ~Copyable, Sendable {
    private enum Stage: Equatable {
        /// Nothing is due.
        case idle
        /// The next fetch is due at this time.
        case waiting(until: Instant)
        /// A fetch is in progress.
        case fetching
    }

    /// What the owner has to do, in this order.
    package struct Actions: Equatable, Sendable {
        /// When to call `tick`, in place of the time that was set before.
        package var timer = TimerChange.keep
        /// Whether to start a fetch, and to call `fetched` when it is over.
        package var startsFetch = false
        /// What the workers should know.
        package var published: CredentialState?
        /// Why a fetch has failed, for the log.
        package var logged: CredentialError?
    }

    /// What becomes of the timer.
    package enum TimerChange: Equatable, Sendable {
        /// It stays as it is.
        case keep
        /// It fires at this time.
        case arm(at: Instant)
        /// It fires no more.
        case disarm
    }

    /// What is known of the credential.
    package private(set) var state = CredentialState()
    /// Whether the configuration names it, so that it is kept fresh.
    package private(set) var naming = CredentialNaming.never
    /// When somebody last needed it.
    package private(set) var lastNeeded = Instant.start
    /// How many fetches have brought one.
    package private(set) var succeeded = 0
    /// How many fetches have not.
    package private(set) var failed = 0
    private var stage = Stage.idle
    private var schedule: RefreshSchedule
    /// The end of the back-off: nobody is asked before it.
    private var restUntil = Instant.start
    /// Whether somebody waits for a fetch that has not begun.
    private var isNeeded = false
    private var budget = RejectionBudget()
    /// The rejections that the next state decides on.
    private var undecided: [CredentialRejection] = []

    /// How long before its end a credential is fetched anew, if no configuration says so.
    package static let refreshAhead = 30 * Duration.second
    /// How long a fetch waits that has been postponed.
    static let postponement = 20 * Duration.millisecond

    /// Makes the machine of a credential of which nothing is known.
    package init(refreshAhead: Duration = Self.refreshAhead) {
        schedule = RefreshSchedule(ahead: refreshAhead)
    }

    /// Whether a fetch is in progress.
    package var isFetching: Bool { stage == .fetching }

    /// Whether the credential is being fetched, or somebody waits for that.
    package var isInUse: Bool { isFetching || isNeeded }

    // MARK: Configurations

    /// The configuration names the credential; `refreshAhead` counts from the next fetch on.
    package mutating func named(refreshAhead: Duration, at now: Instant) -> Actions {
        naming.name()
        schedule.ahead = max(.zero, refreshAhead)
        guard state.credential != nil else { return start(at: now) }
        var actions = publish()
        let due = state.error == nil ? state.refresh : restUntil
        if stage == .idle, let due { actions.timer = wait(until: max(due, now)) }
        return actions
    }

    /// The configuration does not name the credential.
    package mutating func unnamed() -> Actions {
        naming.unname()
        guard case .waiting = stage, !isNeeded else { return Actions() }
        stage = .idle
        return Actions(timer: .disarm)
    }

    // MARK: Calls

    /// A call needs the credential, or soon will.
    package mutating func requested(at now: Instant) -> Actions {
        lastNeeded = now
        // The state is published when the fetch is over.
        guard state.credential != nil, !state.isSuspect else { return startForCall(at: now) }
        let refresh = state.refresh ?? .max
        if now >= refresh { return startForCall(at: now) }
        guard now >= state.usableUntil else { return publish() }
        // It ends before it may be fetched again.
        isNeeded = true
        return Actions(timer: wait(until: refresh))
    }

    /// An upstream has rejected a value.
    ///
    /// The value stays until the fetch is over: other upstreams may accept it.
    package mutating func rejected(_ value: [UInt8], _ rejection: CredentialRejection, at now: Instant) -> Actions {
        lastNeeded = now
        undecided.append(rejection)
        guard let credential = state.credential else { return startForCall(at: now) }
        guard credential.value == value else { return publish(deciding: rejection) }
        // A fetch in progress serves this rejection, too, and costs the upstream nothing.
        if isFetching { state.isSuspect = true }
        if state.isSuspect { return startForCall(at: now) }
        guard now >= restUntil, budget.spend(rejection.upstream, at: now) else { return publish(deciding: rejection) }
        state.isSuspect = true
        return startForCall(at: now)
    }

    /// An upstream has accepted what was fetched since it rejected the value before.
    package mutating func accepted(by upstream: String, at now: Instant) {
        budget.mended(upstream, at: now)
    }

    // MARK: Fetches and time

    /// The fetch is over, at a time that both clocks tell; `random` is from 0 up to, and without, 1.
    package mutating func fetched(
        _ result: Result<Credential, CredentialError>,
        at now: Instant,
        _ wall: WallTime,
        random: Double
    ) -> Actions {
        guard isFetching else { return Actions() }
        stage = .idle
        switch result {
        case .success(let credential): return succeed(credential, at: now, wall, random: random)
        case .failure(let error): return fail(error, at: now, random: random)
        }
    }

    private mutating func succeed(
        _ credential: Credential,
        at now: Instant,
        _ wall: WallTime,
        random: Double
    ) -> Actions {
        succeeded += 1
        isNeeded = false
        restUntil = .start
        schedule.succeeded()
        state = CredentialState(credential, at: now, wall)
        let pause = schedule.pause(fetched: wall, expiry: credential.expiry, random: random)
        state.refresh = pause.map { now.adding(saturating: $0) }
        var timer = TimerChange.keep
        if let refresh = state.refresh, naming == .named { timer = wait(until: refresh) }
        var actions = publishDecidingAll()
        actions.timer = timer
        return actions
    }

    private mutating func fail(_ error: CredentialError, at now: Instant, random: Double) -> Actions {
        failed += 1
        state.error = error
        // Whoever rejected the credential still waits for another.
        if state.isSuspect { isNeeded = true }
        state.isSuspect = false
        if state.expiry <= now { state.removeCredential() }
        restUntil = now + schedule.failed(random: random, retryAfter: error.retryAfter)
        state.retry = restUntil
        let timer = naming == .named || isNeeded ? wait(until: restUntil) : .keep
        var actions = publishDecidingAll()
        (actions.timer, actions.logged) = (timer, error)
        return actions
    }

    /// The fetch could not start yet: too many others are in progress.
    package mutating func postponed(at now: Instant) -> Actions {
        guard isFetching else { return Actions() }
        stage = .idle
        isNeeded = true
        return Actions(timer: wait(until: now + Self.postponement))
    }

    /// The timer has fired.
    package mutating func tick(at now: Instant) -> Actions {
        guard case .waiting(let time) = stage else { return Actions() }
        guard now >= time else { return Actions(timer: .arm(at: time)) }
        stage = .idle
        guard naming == .named || isNeeded else { return Actions() }
        return start(at: now)
    }

    // MARK: What follows

    private mutating func startForCall(at now: Instant) -> Actions {
        isNeeded = true
        return start(at: now)
    }

    /// Starts a fetch, unless one is in progress or the back-off is not over.
    private mutating func start(at now: Instant) -> Actions {
        guard !isFetching else { return Actions() }
        guard now >= restUntil else { return Actions(timer: wait(until: restUntil)) }
        stage = .fetching
        isNeeded = false
        return Actions(startsFetch: true)
    }

    private mutating func wait(until time: Instant) -> TimerChange {
        guard !isFetching else { return .keep }
        stage = .waiting(until: time)
        return .arm(at: time)
    }

    private func publish() -> Actions { Actions(published: state) }

    private mutating func publish(deciding rejection: CredentialRejection) -> Actions {
        undecided.removeAll { $0 == rejection }
        var actions = publish()
        actions.published?.decided = [rejection]
        return actions
    }

    private mutating func publishDecidingAll() -> Actions {
        var actions = publish()
        actions.published?.decided = undecided
        undecided = []
        return actions
    }
}
