private import Glibc

/// A point on the monotonic clock, in nanoseconds.
public typealias Nanoseconds = Int64

extension Nanoseconds {
    /// One millisecond.
    public static let millisecond: Nanoseconds = 1_000_000

    /// One second.
    public static let second: Nanoseconds = 1_000_000_000

    /// The length of `duration`, rounded down to whole nanoseconds; the longest that fits where it does not.
    public init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (whole, tooLong) = seconds.multipliedReportingOverflow(by: Nanoseconds.second)
        let (sum, overflow) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        self = tooLong || overflow ? .max : sum
    }
}

/// Where a loop reads the time: the system, or a hand that a test turns.
public enum Clock {
    /// `CLOCK_MONOTONIC`.
    case system
    /// A clock that stands still until somebody turns it.
    case manual(ManualClock)

    /// The monotonic time.
    public var now: Nanoseconds {
        switch self {
        case .system: Self.read(CLOCK_MONOTONIC)
        case .manual(let clock): clock.now
        }
    }

    /// The time of day: nanoseconds since 1970-01-01T00:00:00Z.
    public static var wall: Nanoseconds { read(CLOCK_REALTIME) }

    private static func read(_ id: clockid_t) -> Nanoseconds {
        var time = timespec()
        unsafe clock_gettime(id, &time)
        return Nanoseconds(time.tv_sec) * .second + Nanoseconds(time.tv_nsec)
    }
}

/// A clock for tests: it shows what it was last set to.
public final class ManualClock {
    /// The time it shows.
    public var now: Nanoseconds

    /// Makes a clock that shows `now`.
    public init(now: Nanoseconds = .second) {
        self.now = now
    }
}
