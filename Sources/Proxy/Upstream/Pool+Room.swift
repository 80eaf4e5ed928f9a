internal import Configuration
internal import Events
internal import Time

/// What the last look at the calls of a pool found that hold its connections.
struct RoomLook {
    /// How often stalled calls are looked for while calls wait for their connections.
    static let interval = 100 * Duration.millisecond

    private var time = Instant.min
    /// Whether there are calls that stall, as far as one look or two can tell.
    private(set) var foundStalled = false

    /// Whether a look is overdue, so that nothing is known of the calls now.
    func isOld(at now: Instant) -> Bool { time == .min || time < now - 2 * Self.interval }

    /// Notes that `since` is the one since when a call stalls, or `.max`.
    mutating func note(stalledSince since: Instant, at now: Instant) {
        // Without a look shortly before, no call can be told from one that stalls.
        foundStalled = since < .max && (isOld(at: now) || since <= time)
        time = now
    }
}

/// Calls that wait while others, which have stalled, have all connections.
///
/// Beyond `limits.waiting`, as many may wait again for as long as it takes to tell stalled calls from others.
extension Pool {
    /// The number of waiting attempts that no dial is for.
    var unserved: Int { max(0, waiting.count - dials.count * callsPerDial) }

    /// The most attempts that may wait, those included that a dial is for.
    var maxWaiting: Int { upstream.settings.limits.waiting + dials.count * callsPerDial }

    /// Whether an attempt may wait although `queued` others, as many as the limit or more, do.
    func mayWait(_ attempt: any ConnectionSeeker, beyond queued: Int) -> Bool {
        guard backoff == nil, queued < 2 * upstream.settings.limits.waiting else { return false }
        return roomLook.isOld(at: upstream.context.loop.now) || roomLook.foundStalled || waiting.mayCrowdOut(attempt)
    }

    /// Looks for stalled calls now and then while attempts wait for connections in use, of which none is being made.
    func seekRoom() {
        guard backoff == nil, unserved > 0, roomTimer?.isArmed != true else { return }
        let timer = roomTimer ?? Timer(on: upstream.context.loop.timers) { [unowned self] in makeRoom() }
        roomTimer = timer
        timer.arm(after: RoomLook.interval)
        if roomLook.isOld(at: upstream.context.loop.now) { upstream.context.atEndOfTurn(self) }
    }

    func endOfTurn() { makeRoom() }

    private func makeRoom() {
        guard backoff == nil, unserved > 0 else { return }
        let now = upstream.context.loop.now
        waiting.look(at: now)
        let request = RoomRequest(
            upstream: upstream,
            version: version,
            waiting: waiting.all,
            whole: waiting.whole,
            count: unserved
        ) { [unowned self] in waiting.moveToFront($0) }
        roomLook.note(stalledSince: upstream.makeRoom(request), at: now)
        let limit = roomLook.foundStalled ? maxWaiting + upstream.settings.limits.waiting : maxWaiting
        fail(waiting.removeExcess(waiting.count - limit), .tooManyWaiting)
        seekRoom()
    }
}
