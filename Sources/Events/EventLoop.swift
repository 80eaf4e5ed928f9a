private import CLibevent
private import Glibc
public import Time

/// Something that has put work off until the callbacks of this turn are over.
public protocol EndOfTurn: AnyObject {
    /// Does the work; called once for each `atEndOfTurn`.
    func endOfTurn()
}

/// One thread's loop: readiness of descriptors, timers, signals, letters from other threads, and the end of each turn.
///
/// A turn is: wait, do the callbacks of all that is ready, do the timers that are due, then `EndOfTurn` work until
/// none is left. Belongs to the thread that made it.
@safe
public final class EventLoop {
    /// The timers of this loop.
    public let timers: TimerWheel
    /// The clock that the loop reads once a turn.
    public let clock: Clock
    let base: OpaquePointer
    private var alarm: OpaquePointer?
    private var alarmTime = Instant.max
    private var atEnd: [any EndOfTurn] = []
    private var doing: [any EndOfTurn] = []
    /// What was put off in the turn before, and what is put off in this one.
    private var due: [any EndOfTurn] = []
    private var later: [any EndOfTurn] = []
    private var kept: [AnyObject] = []
    private var stopping = false
    /// Whether the time has been read in this turn.
    private var isAwake = false

    /// Makes a loop of one thread, without locks.
    public init(clock: Clock = .system) {
        let configuration = unsafe event_config_new()
        unsafe event_config_set_flag(configuration, Int32(EVENT_BASE_FLAG_NOLOCK.rawValue))
        guard let base = unsafe event_base_new_with_config(configuration) else {
            fatalError("out of memory or file descriptors creating an event loop")
        }
        unsafe self.base = base
        unsafe event_config_free(configuration)
        self.clock = clock
        timers = TimerWheel(now: clock.now)
        timers.becameEarlier = { [unowned self] in setAlarm() }
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe alarm = event_new(
            base,
            -1,
            0,
            { _, _, context in
                // libevent's clock is coarse: the alarm may go off before the time it was set for, and is set again.
                unsafe Unmanaged<EventLoop>.fromOpaque(context!).takeUnretainedValue().alarmTime = .max
            },
            context
        )
    }

    deinit {
        if let alarm = unsafe alarm { unsafe event_free(alarm) }
        unsafe event_base_free(base)
    }

    /// The monotonic time at which this turn began.
    public var now: Instant { timers.now }

    /// Does `work` when the callbacks of this turn are over.
    public func atEndOfTurn(_ work: any EndOfTurn) {
        atEnd.append(work)
    }

    /// Does `work` at the end of the next turn, which comes at once: what is ready meanwhile gets its turn before.
    public func atNextTurn(_ work: any EndOfTurn) {
        later.append(work)
    }

    /// Whether this turn has taken so long that what can be put off should wait for others.
    ///
    /// What it has left for its end is yet to come, and counts.
    public var hasRunLong: Bool { clock.now - now + atEnd.count * Self.endOfTurnTime > Self.longTurn }

    private static let longTurn = Duration.millisecond
    /// About what one piece of work takes at the end of a turn: most of it is to send.
    private static let endOfTurnTime = Duration.millisecond / 160

    /// Keeps an object until this turn is over, because it may be what called.
    public func keep(_ object: AnyObject) {
        kept.append(object)
    }

    /// Takes turns until `stop`.
    ///
    /// Not inlined: the report of a crash is to name it.
    @inline(never)
    public func run() {
        stopping = false
        finishTurn()
        while !stopping { turn() }
    }

    /// Ends `run` after this turn.
    public func stop() {
        stopping = true
    }

    /// Takes one turn.
    ///
    /// - Parameter waiting: whether to wait until something is ready.
    public func turn(waiting: Bool = true) {
        // A loop without any event would not wait at all.
        let wait = waiting && atEnd.isEmpty && due.isEmpty ? EVLOOP_NO_EXIT_ON_EMPTY : EVLOOP_NONBLOCK
        unsafe event_base_loop(base, EVLOOP_ONCE | wait)
        finishTurn()
    }

    /// Does what is due now, after a manual clock was turned.
    public func finishTurn() {
        timers.advance(to: clock.now)
        if !due.isEmpty {
            atEnd.append(contentsOf: due)
            due.removeAll()
        }
        while !atEnd.isEmpty {
            swap(&atEnd, &doing)
            // Taken out one by one, the first from the end: what stays in an array is counted once more to be called.
            doing.reverse()
            while let work = doing.popLast() { work.endOfTurn() }
        }
        if !later.isEmpty { swap(&due, &later) }
        releaseKept()
        isAwake = false
        setAlarm()
    }

    /// Lets go of what was kept; not in place, since what goes may keep something.
    private func releaseKept() {
        guard !kept.isEmpty else { return }
        var released: [AnyObject] = []
        swap(&kept, &released)
    }

    /// Tells the timers the time: callbacks of a turn call this before they do anything that looks at it.
    func wake() {
        guard !isAwake else { return }
        isAwake = true
        timers.touch(clock.now)
    }

    /// Sees to it that the wait ends when the next timer is due.
    private func setAlarm() {
        guard let due = timers.nextDue, due != alarmTime || due <= now else { return }
        alarmTime = due
        let microseconds = Int(max(.zero, due - clock.now).nanoseconds + 999) / 1000
        var time = timeval(tv_sec: microseconds / 1_000_000, tv_usec: microseconds % 1_000_000)
        unsafe event_add(alarm, &time)
    }
}
