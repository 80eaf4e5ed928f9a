internal import Events
internal import Time

/// What a stop does, one step after the other.
///
/// ```
/// announced → own sockets closed → all sockets closed → over
/// ```
/// As long as sockets that systemd holds are open, new calls are served: the next process cannot start before this one
/// has ended, and a new call should not wait for the longest old one.
struct DrainSteps {
    /// What is to be done next.
    enum Step: Equatable {
        /// Nothing; to be asked again soon.
        case wait
        /// Accept no more on the sockets that only this process has.
        case closeOwn
        /// Accept no more on the sockets that systemd holds, and close what is idle.
        case closeHeld
        /// Cut the calls off that began before the stop.
        case cutOff
        /// End the process.
        case end
    }

    private enum Phase { case announced, ownClosed, allClosed }

    /// Whether no call was cut off.
    private(set) var isClean = true

    private let closing: Instant
    private let deadline: Instant
    private let handover: Duration
    private let holds: Bool
    private var phase = Phase.announced
    private var end = Instant.max
    private var lastBusy = Instant.start

    /// How long callers are waited for that have no call and do not close the connection; new ones cannot be served then.
    private static let lingerTime = 200 * Duration.millisecond

    /// Plans a stop.
    ///
    /// - Parameters:
    ///   - now: when it begins.
    ///   - minTime: how long all sockets stay open.
    ///   - maxTime: when the calls are cut off that began before the stop; nil is never.
    ///   - handover: how long those may take that are left when the held sockets have been closed; nil is for ever.
    ///   - holds: whether systemd holds sockets.
    init(at now: Instant, minTime: Duration, maxTime: Duration?, handover: Duration?, holds: Bool) {
        closing = now + minTime
        deadline = maxTime.map { now + max($0, minTime) } ?? .max
        self.handover = handover ?? .max
        self.holds = holds
    }

    /// Says what is to be done next.
    ///
    /// - Parameters:
    ///   - now: the time.
    ///   - leaving: the number of connections with calls that began before the stop.
    ///   - open: the number of all connections.
    ///   - lingering: the number of those that only wait for their callers to close.
    /// - Returns: a step, which is to be done before this is called again.
    mutating func next(at now: Instant, leaving: Int, open: Int, lingering: Int) -> Step {
        switch phase {
        case .announced:
            guard now >= closing else { return .wait }
            if holds { phase = .ownClosed } else { allClosed(at: now, end: deadline) }
            return .closeOwn
        case .ownClosed where leaving > 0 && now < deadline:
            return .wait
        case .ownClosed where leaving > 0 && isClean:
            isClean = false
            return .cutOff
        case .ownClosed:
            allClosed(at: now, end: handover == .max ? .max : now + handover)
            return .closeHeld
        case .allClosed:
            let isBusy = open > lingering
            if isBusy { lastBusy = now }
            guard open > 0, now - lastBusy < Self.lingerTime else { return .end }
            guard now >= end else { return .wait }
            if isBusy { isClean = false }
            return .end
        }
    }

    private mutating func allClosed(at now: Instant, end: Instant) {
        phase = .allClosed
        self.end = end
        lastBusy = now
    }
}
