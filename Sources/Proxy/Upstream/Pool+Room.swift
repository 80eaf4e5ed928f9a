internal import Configuration
internal import Events
internal import HTTP
internal import Time

/// The result of the last search for stalled calls that hold the connections of a pool.
struct StallSearch {
    /// The pause between searches while calls wait for connections.
    static let interval = 100 * Duration.millisecond

    private var time = Instant.min
    /// Whether a call was found that may have stalled.
    private(set) var foundStalled = false

    /// Whether a search is overdue, so that nothing is known of the calls now.
    func isOld(at now: Instant) -> Bool { time == .min || time < now - 2 * Self.interval }

    /// Notes a search, and the time since when the first call stalls, or `.max`.
    ///
    /// A call has stalled that has not moved since the search before. Without one, each that does not move may have.
    mutating func note(stalledSince since: Instant, at now: Instant) {
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
        guard needsRoom, queued < 2 * upstream.settings.limits.waiting else { return false }
        return stallSearch.isOld(at: upstream.context.loop.now) || stallSearch.foundStalled
            || waiting.mayCrowdOut(attempt)
    }

    /// Whether attempts can get a connection only if other calls end.
    private var needsRoom: Bool { backoff == nil && isAtLimit }

    /// Searches for stalled calls now and then while attempts wait for connections in use.
    func seekRoom() {
        guard backoff == nil, unserved > 0, roomTimer?.isArmed != true else { return }
        let timer = roomTimer ?? Timer(on: upstream.context.loop.timers) { [unowned self] in makeRoom() }
        roomTimer = timer
        timer.arm(after: StallSearch.interval)
        if stallSearch.isOld(at: upstream.context.loop.now) { upstream.context.atEndOfTurn(self) }
    }

    func endOfTurn() { makeRoom() }

    private func makeRoom() {
        guard needsRoom, unserved > 0 else { return seekRoom() }
        let now = upstream.context.loop.now
        waiting.noteStalls(at: now)
        let request = RoomRequest(
            upstream: upstream,
            waiting: waiting.all,
            whole: waiting.whole,
            count: unserved,
            holdsConnection: { [unowned self] in holdsConnection($0) },
            serveFirst: { [unowned self] in waiting.moveToFront($0) }
        )
        stallSearch.note(stalledSince: upstream.makeRoom(request), at: now)
        let limit = stallSearch.foundStalled ? maxWaiting + upstream.settings.limits.waiting : maxWaiting
        fail(waiting.removeExcess(waiting.count - limit), .tooManyWaiting)
        seekRoom()
    }

    /// Whether an attempt has a connection whose end makes room for those that wait here.
    ///
    /// A stream of HTTP/2 makes room on its own connection, and an end of HTTP/1.1 lets any address have a new one.
    private func holdsConnection(_ attempt: Attempt) -> Bool {
        guard attempt.upstream === upstream, attempt.holdsConnection(version) else { return false }
        return version == .http1 || attempt.peerAddress == place.address || place.address == nil
    }
}
