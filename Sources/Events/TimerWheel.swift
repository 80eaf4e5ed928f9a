public import Time

/// Something to be done at a later time, once, on the thread of its wheel.
///
/// Arming a timer again only moves its deadline; where that is later, it stays in its place in the wheel and is
/// looked at when its old time comes. So a time-out that is pushed back with every call costs one store.
/// The owner keeps the timer, the action holds the owner `unowned`, and the owner calls `cancel` before it goes.
public final class Timer {
    fileprivate let action: () -> Void
    fileprivate var deadline = Instant.max
    fileprivate var slot: TimerWheel.Slot?
    fileprivate var position = 0
    private let wheel: TimerWheel

    /// Makes a timer that is not armed.
    public init(on wheel: TimerWheel, action: @escaping () -> Void) {
        self.wheel = wheel
        self.action = action
    }

    /// Whether the action is still to come.
    public var isArmed: Bool { deadline != .max }

    /// Does the action at `deadline`, or up to 10 ms later, instead of when it was to be done before.
    public func arm(at deadline: Instant) {
        self.deadline = deadline
        guard let slot, !wheel.isTooLate(slot, for: deadline) else { return wheel.insert(self) }
    }

    /// Does the action after `delay`; never, if there is no delay.
    public func arm(after delay: Duration?) {
        guard let delay else { return disarm() }
        // The last instant stands for a timer that is not armed.
        arm(at: min(wheel.now.adding(saturating: delay), .max - .nanoseconds(1)))
    }

    /// Does not do the action, but stays in the wheel, to be armed again soon.
    public func disarm() {
        deadline = .max
    }

    /// Does not do the action and leaves the wheel.
    public func cancel() {
        deadline = .max
        wheel.remove(self)
    }
}

/// All timers of a loop, in slots of 10 ms for the next ten seconds and slots of ten seconds for the time after.
///
/// Pure: time passes only by `advance(to:)`. Belongs to one thread.
public final class TimerWheel {
    fileprivate struct Slot {
        var isFar: Bool
        /// The time at which the slot is looked at.
        var due: Instant
        var index: Int { TimerWheel.index(due, isFar ? TimerWheel.far : TimerWheel.near) }
    }

    private static let near: Duration = 10 * .millisecond
    private static let count = 1024
    private static let far = count * near

    /// The present time, as `touch` and `advance` last said.
    public private(set) var now: Instant
    /// Called when a timer is placed that comes before the one that was next.
    public var becameEarlier: (() -> Void)?

    private var nearSlots = [[Timer]](repeating: [], count: count)
    private var farSlots = [[Timer]](repeating: [], count: count)
    private var nearTimers = 0
    private var farTimers = 0
    /// All slots due up to here have been looked at.
    private var checkedAt: Instant
    /// When the next slot with timers is due; `.max` if there is none, nil in the middle of `advance`: not known.
    private var earliest: Instant? = .max

    /// Makes an empty wheel at the time `now`.
    public init(now: Instant) {
        self.now = now
        checkedAt = now
    }

    /// When `advance(to:)` has something to do; nil while no timer is in the wheel.
    public var nextDue: Instant? {
        let due = earliest ?? findEarliest()
        earliest = due
        return due == .max ? nil : due
    }

    /// Sets the time without doing timers, so that delays count from it.
    public func touch(_ now: Instant) {
        self.now = max(self.now, now)
    }

    /// Does all timers up to `time`.
    public func advance(to time: Instant) {
        touch(time)
        while let due = nextDue, due <= now {
            earliest = nil
            checkedAt = due
            if due == Self.start(of: Self.tick(due, Self.far), Self.far) { check(at: Slot(isFar: true, due: due)) }
            check(at: Slot(isFar: false, due: due))
        }
        checkedAt = now
    }

    /// Takes the timers out of a slot, does those whose time has come and places the others anew.
    private func check(at slot: Slot) {
        var taken: [Timer] = []
        if slot.isFar {
            swap(&taken, &farSlots[slot.index])
            farTimers -= taken.count
        } else {
            swap(&taken, &nearSlots[slot.index])
            nearTimers -= taken.count
        }
        for timer in taken { timer.slot = nil }
        for timer in taken where timer.isArmed && timer.slot == nil {
            guard timer.deadline <= now else {
                insert(timer)
                continue
            }
            timer.deadline = .max
            timer.action()
        }
    }

    /// Whether a timer in `slot` would be looked at too late for `deadline`: a near slot is for the deadlines just
    /// before it is due, a far slot for those after.
    fileprivate func isTooLate(_ slot: Slot, for deadline: Instant) -> Bool {
        slot.isFar ? deadline < slot.due : deadline <= slot.due - Self.near
    }

    fileprivate func insert(_ timer: Timer) {
        remove(timer)
        let slot = slot(for: timer.deadline)
        timer.slot = slot
        if slot.isFar {
            timer.position = farSlots[slot.index].count
            farSlots[slot.index].append(timer)
            farTimers += 1
        } else {
            timer.position = nearSlots[slot.index].count
            nearSlots[slot.index].append(timer)
            nearTimers += 1
        }
        guard let earliest, slot.due < earliest else { return }
        self.earliest = slot.due
        becameEarlier?()
    }

    fileprivate func remove(_ timer: Timer) {
        guard let slot = timer.slot else { return }
        timer.slot = nil
        if slot.isFar {
            farTimers -= 1
            Self.remove(timer, from: &farSlots[slot.index])
        } else {
            nearTimers -= 1
            Self.remove(timer, from: &nearSlots[slot.index])
        }
    }

    private static func remove(_ timer: Timer, from slot: inout [Timer]) {
        let last = slot.removeLast()
        guard last !== timer else { return }
        slot[timer.position] = last
        last.position = timer.position
    }

    /// The slot that is looked at when `deadline` has just passed, or earlier where that is more than ten seconds off.
    private func slot(for deadline: Instant) -> Slot {
        // No further than the far slots reach, and no further than the sums below can be told.
        let horizon = now + (Self.count - 2) * Self.far
        let deadline = min(deadline, horizon)
        let nearDue = Self.after(max(deadline - .nanoseconds(1), now), Self.near)
        if nearDue < now + Self.far { return Slot(isFar: false, due: nearDue) }
        let due = max(Self.start(of: Self.tick(deadline, Self.far), Self.far), Self.after(now, Self.far))
        return Slot(isFar: true, due: due)
    }

    private func findEarliest() -> Instant {
        var best = Instant.max
        if nearTimers > 0 {
            best = Self.after(checkedAt, Self.near)
            while nearSlots[Self.index(best, Self.near)].isEmpty { best += Self.near }
        }
        if farTimers > 0 {
            var due = Self.after(checkedAt, Self.far)
            while farSlots[Self.index(due, Self.far)].isEmpty { due += Self.far }
            best = min(best, due)
        }
        return best
    }

    /// The first multiple of `unit` after `time`.
    private static func after(_ time: Instant, _ unit: Duration) -> Instant {
        start(of: tick(time, unit) + 1, unit)
    }

    private static func index(_ due: Instant, _ unit: Duration) -> Int {
        tick(due, unit) & (count - 1)
    }

    /// How many whole units lie between the start of the clock and `time`.
    private static func tick(_ time: Instant, _ unit: Duration) -> Int { (time - .start) / unit }

    private static func start(of tick: Int, _ unit: Duration) -> Instant { .start + tick * unit }
}
