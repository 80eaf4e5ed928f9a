internal import Configuration
internal import Events
internal import HTTP
internal import Policy
internal import TLS
internal import Time

/// The connections to one upstream that speak one version of HTTP, and the attempts that wait for one.
///
/// A connection that takes one exchange at a time leaves the list of those with room while it is used; one that takes many
/// stays there until it is full.
final class Pool: UpstreamConnection.Owner, EndOfTurn {
    /// What connections of the pool are made to speak.
    let version: HTTPVersion
    unowned let upstream: Upstream
    unowned let place: UpstreamAddress
    private let idleTimeout: Duration?
    /// The connections that can begin another exchange; the last one is taken first, and those come first that hold much for
    /// calls which do not take it.
    private var available: [UpstreamConnection] = []
    var waiting = WaitingSeekers()
    private(set) var dials: [Dial] = [] {
        didSet { upstream.noteDials(dials.count - oldValue.count, version) }
    }
    private(set) var open = 0 {
        didSet { upstream.noteConnections(open - oldValue, version) }
    }
    /// The connections that have reached their greatest age and end with the exchanges under way.
    private var aged = 0
    private var isDraining = false
    /// When a connection beside the open ones may be retried.
    private var restUntil = Instant.min

    private var restTimer: Timer?
    private static let rest = Duration.second

    /// None could be connected to of late; only where calls wait for that.
    private(set) var backoff: (pauses: ConnectBackoff, error: UpstreamError)?
    private var retryTimer: Timer?
    private var waitTimer: Timer?
    var roomTimer: Timer?
    var stallSearch = StallSearch()

    init(_ version: HTTPVersion, of upstream: Upstream, at place: UpstreamAddress) {
        self.version = version
        self.upstream = upstream
        self.place = place
        idleTimeout = upstream.settings.timeouts.idle
    }

    deinit {
        restTimer?.cancel()
        retryTimer?.cancel()
        waitTimer?.cancel()
        roomTimer?.cancel()
    }

    /// Finds a connection for the attempt: one with room at once, or else one that is made or gets room.
    func acquire(for attempt: any ConnectionSeeker) {
        while let connection = available.last {
            let room = connection.room
            if room > 0 {
                if connection.isLastChoice { dialAhead() }
                return use(connection, with: room, for: attempt)
            }
            // One that is just ending tells the calls that it had, which may come back here before it is off the list.
            remove(connection)
        }
        // A call whose connection is being made waits for that alone, not for another call to end.
        let queued = waiting.count - (backoff == nil ? dials.count * callsPerDial : 0)
        guard queued < upstream.settings.limits.waiting || mayDial || mayWait(attempt, beyond: queued) else {
            return attempt.failed(.tooManyWaiting)
        }
        waiting.append(attempt, until: waitEnd(of: attempt))
        dialIfNeeded()
        if backoff != nil || waitTimer?.isArmed != true { armWaitTimer() }
        seekRoom()
    }

    /// Removes an attempt that waits no more.
    ///
    /// A dial that has begun is kept for the next call. If it ended with its caller, each call that is reset would cost the
    /// upstream a connection.
    func withdraw(_ attempt: any ConnectionSeeker) {
        let before = waiting.count
        waiting.remove(attempt)
        guard waiting.count < before else { return }
        // Somebody waits for the result of a probe.
        guard !place.isProbed else { return }
        while dials.count > dialsNeeded, dials.last?.hasBegun == false { dials.removeLast().cancel() }
    }

    /// Makes no new connections for later: idle ones close now, the others after their exchanges.
    func drain() {
        isDraining = true
        restTimer?.cancel()
        let idle = available
        for connection in idle { remove(connection) }
        for connection in idle { connection.drain() }
    }

    /// Gives those that wait away, since they are to be served otherwise.
    func removeWaiting() -> [any ConnectionSeeker] {
        let taken = waiting.removeAll()
        for dial in dials { dial.cancel() }
        dials = []
        return taken
    }

    /// Whether a connection is open, or is being made.
    var isInUse: Bool { open + aged + dials.count > 0 }

    /// What the pool has at this moment.
    ///
    /// A connection that has no room and no call either is about to close, and counts as active.
    var usage: PoolUsage {
        let idle = available.count { !$0.isBusy }
        return PoolUsage(idle: idle, active: open + aged - idle, waiting: waiting.count)
    }

    // MARK: Dialing

    /// How many calls a connection that is being made is expected to serve.
    var callsPerDial: Int { version == .http1 ? 1 : upstream.settings.limits.streams }

    private var dialsNeeded: Int { (waiting.count + callsPerDial - 1) / callsPerDial }

    /// Whether the upstream has as many connections as it may have, those that are being made included.
    var isAtLimit: Bool {
        upstream.connections(version) + upstream.dials(version) >= upstream.settings.limits.connections
    }

    private var mayDial: Bool {
        (!isAtLimit || open + dials.count == 0)
            && (open == 0 || upstream.context.loop.now >= restUntil)
            && (backoff.map { dials.isEmpty && upstream.context.loop.now >= $0.pauses.retryAt } ?? true)
    }

    private func dialIfNeeded() {
        guard dials.count < dialsNeeded else { return }
        // What other addresses do not use is in the way of calls that wait here.
        if isAtLimit, open + dials.count > 0 { upstream.balancer?.closeIdle(version, besides: place) }
        if mayDial { startDial() }
    }

    /// Closes a connection that has no call, if there is one.
    func closeIdle() -> Bool {
        guard let idle = available.first(where: { !$0.isBusy }) else { return false }
        remove(idle)
        idle.drain()
        return true
    }

    /// There may be room for a connection that was not.
    func connectionsHaveRoom() { dialIfNeeded() }

    /// Makes a connection for calls to come: what waits on those that there are is not taken by its callers.
    ///
    /// No call waits for it, as the windows of such a connection are open for others.
    private func dialAhead() {
        if dials.isEmpty, mayDial { startDial() }
    }

    /// Makes a connection that no call waits for.
    func probe() {
        if dials.isEmpty { startDial() }
    }

    private func startDial() {
        let dial = Dial(for: self, of: upstream, at: place.address)
        dials.append(dial)
        upstream.context.atEndOfTurn(dial)
    }

    func finished(_ dial: Dial, _ result: Result<UpstreamConnection, UpstreamError>) {
        dials.removeAll { $0 === dial }
        switch result {
        case .success(let connection):
            upstream.connected()
            upstream.balancer?.connected(place)
            let hasWaited = connection.room > 0 && endBackoff()
            adopt(connection)
            if connection.version != version { upstream.speaks(connection.version, insteadOf: self, at: place) }
            dialIfNeeded()
            // There was one dial for all.
            while hasWaited, dials.count < dialsNeeded, mayDial { dialIfNeeded() }
        case .failure(.security(_, .noCommonProtocol)) where version == .http1:
            upstream.speaks(.http2, insteadOf: self, at: place)
        case .failure(let error):
            for seeker in waiting.all { (seeker as? Attempt)?.failedTimes = dial.times }
            fail(error)
        }
    }

    /// A connection could not be made.
    ///
    /// All that it would have served and that no other is made for fail with it, unless there is one that serves them by and
    /// by: then it is a while before another is tried.
    private func fail(_ error: UpstreamError) {
        upstream.notConnected(error)
        if version == .http2, open > 0 { return rest() }
        if let balancer = upstream.balancer { return balancer.connectFailed(place, error, removeWaiting()) }
        if upstream.settings.connectWait != nil, error.isLackOfConnectivity { return waitForConnectivity(error) }
        endBackoff()
        let count = max(0, min(callsPerDial, waiting.count - dials.count * callsPerDial))
        let failed = waiting.removeFirst(count)
        // They may come back at once.
        for attempt in failed { attempt.failed(error) }
        dialIfNeeded()
    }

    /// Makes no connection beside the open ones for a while.
    private func rest() {
        restUntil = upstream.context.loop.now + Self.rest
        let timer = restTimer ?? Timer(on: upstream.context.loop.timers) { [unowned self] in dialIfNeeded() }
        restTimer = timer
        timer.arm(after: Self.rest)
    }

    // MARK: Waiting for connectivity

    /// No connection could be made: those that wait go on waiting until their time is over, and it is retried by and by.
    private func waitForConnectivity(_ error: UpstreamError) {
        let now = upstream.context.loop.now
        if backoff == nil {
            backoff = (ConnectBackoff(at: now), error)
        } else {
            backoff?.pauses.failed(at: now)
            backoff?.error = error
        }
        let timer = retryTimer ?? Timer(on: upstream.context.loop.timers) { [unowned self] in dialIfNeeded() }
        retryTimer = timer
        if let backoff { timer.arm(at: backoff.pauses.retryAt) }
        let excess = waiting.removeLast(max(0, waiting.count - maxWaiting))
        for attempt in excess { attempt.failed(error) }
        failOverdue()
    }

    /// Fails the attempts that have waited long enough: for connectivity, or for a connection that is in use.
    private func failOverdue() {
        let now = upstream.context.loop.now
        guard let error = backoff?.error else {
            // A dial has its own time limit, for each of its addresses.
            return fail(waiting.removeEnded(at: now, exceptFirst: waiting.count - unserved), .waitTimeout)
        }
        let failed = waiting.removeOverdue(at: now)
        while dials.count > dialsNeeded { dials.removeLast().cancel() }
        fail(failed, error)
    }

    func fail(_ seekers: [any ConnectionSeeker], _ error: UpstreamError) {
        // They may come back at once.
        for seeker in seekers { seeker.failed(error) }
        armWaitTimer()
    }

    /// Returns the time at which an attempt that begins to wait now gives up.
    private func waitEnd(of seeker: any ConnectionSeeker) -> Instant {
        let timeouts = upstream.settings.timeouts
        guard let waiting = timeouts.waiting else { return .max }
        // It may have waited elsewhere.
        let start = (seeker as? Attempt)?.startedAt ?? upstream.context.loop.now
        let end = start.adding(saturating: timeouts.connect ?? .zero).adding(saturating: waiting)
        return upstream.settings.connectWait == nil ? end : max(end, seeker.waitsUntil)
    }

    private func armWaitTimer() {
        guard !waiting.isEmpty else { return }
        // Those that a dial is for stay when their time is over, and are looked at again.
        let again = upstream.context.loop.now + StallSearch.interval
        let end = backoff == nil ? max(waiting.firstEnd, again) : waiting.firstOverdue
        guard end < .max else { return }
        let timer = waitTimer ?? Timer(on: upstream.context.loop.timers) { [unowned self] in failOverdue() }
        waitTimer = timer
        timer.arm(at: end)
    }

    /// Somebody can be connected to.
    ///
    /// - Returns: whether that was not so before.
    @discardableResult
    private func endBackoff() -> Bool {
        guard backoff != nil else { return false }
        backoff = nil
        retryTimer?.disarm()
        waitTimer?.disarm()
        armWaitTimer()
        return true
    }

    /// A connection has been made, which may have turned out to belong to the other pool.
    private func adopt(_ connection: UpstreamConnection) {
        let pool = place.pool(connection.version)
        connection.owner = pool
        pool.open += 1
        pool.hasRoom(connection)
        // Another would hardly be of more use at once.
        if !connection.hasBeenOfUse { pool.rest() }
    }

    // MARK: What connections tell

    /// A connection may have room that it had not, or the other way round.
    func hasRoom(_ connection: UpstreamConnection) {
        var room = connection.room
        if room > 0, !connection.hasBeenOfUse {
            connection.hasBeenOfUse = true
            endBackoff()
        }
        if !waiting.isEmpty {
            serveWaiting(by: connection)
            room = connection.room
        }
        if room > 0 {
            guard !isDraining else { return connection.drain() }
            if connection.poolPosition != nil, connection.isLastChoice != connection.holdsMuch { remove(connection) }
            if connection.poolPosition == nil { add(connection) }
        } else {
            remove(connection)
        }
        if !connection.isBusy { connection.close(after: idleTimeout) }
    }

    func connectFinished(_ connection: UpstreamConnection, errno: Int32) {}

    /// A connection that only ends its exchanges does not count as open, or a stream without end would keep others from
    /// being made.
    func aged(_ connection: UpstreamConnection) {
        open -= 1
        aged += 1
        remove(connection)
        dialIfNeeded()
    }

    func closed(_ connection: UpstreamConnection) {
        if connection.stage == .aged { aged -= 1 } else { open -= 1 }
        remove(connection)
        let wasOfUse = connection.hasBeenOfUse || connection.stage == .aged || waiting.isEmpty
        if wasOfUse { dialIfNeeded() } else { fail(connection.error) }
        if upstream.connections(version) + 1 >= upstream.settings.limits.connections {
            upstream.balancer?.connectionsHaveRoom(version, besides: place)
        }
    }

    private func use(_ connection: UpstreamConnection, with room: Int, for attempt: any ConnectionSeeker) {
        attempt.connected(connection)
        // One that had room for more has some left, or has told that it has none.
        if room == 1, connection.room == 0 { remove(connection) }
    }

    private func serveWaiting(by connection: UpstreamConnection) {
        while !waiting.isEmpty, connection.room > 0 { waiting.removeFirst().connected(connection) }
    }

    private func add(_ connection: UpstreamConnection) {
        connection.isLastChoice = connection.holdsMuch
        let position = connection.isLastChoice ? 0 : available.count
        available.insert(connection, at: position)
        number(from: position)
    }

    private func remove(_ connection: UpstreamConnection) {
        guard let position = connection.poolPosition else { return }
        connection.poolPosition = nil
        available.remove(at: position)
        number(from: position)
    }

    private func number(from position: Int) {
        for index in position..<available.count { available[index].poolPosition = index }
    }
}
