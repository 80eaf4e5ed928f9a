private import Glibc
public import Time

/// Where a loop reads the time: the system, or a hand that a test turns.
public enum Clock {
    /// `CLOCK_BOOTTIME`: it goes on while the machine is suspended, so that a cached response or a token ages meanwhile.
    case system
    /// A clock that stands still until somebody turns it.
    case manual(ManualClock)

    /// The time since the machine was started; it does not go back.
    public var now: Instant {
        switch self {
        case .system: Instant(nanoseconds: Self.read(CLOCK_BOOTTIME))
        case .manual(let clock): clock.now
        }
    }

    /// The time of day, which the hand of a test may have set.
    ///
    /// A worker asks its loop's clock, which is turned by hand in a rehearsal. Only the daemon's own threads ask the system.
    public var wall: WallTime {
        if case .manual(let clock) = self, let wall = clock.wall { return wall }
        return WallTime(nanoseconds: Self.read(CLOCK_REALTIME))
    }

    /// The time since the machine was started, without the times of suspension (`CLOCK_MONOTONIC`).
    public static var awake: Duration { .nanoseconds(read(CLOCK_MONOTONIC)) }

    private static func read(_ id: clockid_t) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(id, &time)
        return Int64(time.tv_sec) * Duration.second.nanoseconds + Int64(time.tv_nsec)
    }
}

/// A clock for tests: it shows what it was last set to.
public final class ManualClock {
    /// The time it shows.
    public var now: Instant
    /// The time of day it shows; that of the system if nobody has set it.
    public var wall: WallTime?

    /// Makes a clock that shows `now`.
    public init(now: Instant = .start + .second) {
        self.now = now
    }
}
