/// A point in time of a clock that does not go back (`CLOCK_BOOTTIME`), in nanoseconds since the machine was started.
///
/// It has no time of day, and no change of the system clock moves it.
public struct Instant: BitwiseCopyable, Hashable, Comparable, Sendable {
    /// The nanoseconds since the clock began.
    public let nanoseconds: Int64

    /// The point that lies so many nanoseconds behind the first.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// When the clock began: before everything that a process has seen.
    public static let start = Instant(nanoseconds: 0)
    /// The last that there is, which stands for "never".
    public static let max = Instant(nanoseconds: .max)
    /// The first that there is, which stands for "always".
    public static let min = Instant(nanoseconds: .min)

    public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

    public static func + (left: Instant, right: Duration) -> Instant {
        Instant(nanoseconds: left.nanoseconds + right.nanoseconds)
    }

    public static func - (left: Instant, right: Duration) -> Instant {
        Instant(nanoseconds: left.nanoseconds - right.nanoseconds)
    }

    /// The time from the second to the first.
    public static func - (left: Instant, right: Instant) -> Duration { Duration(left.nanoseconds - right.nanoseconds) }

    public static func += (left: inout Instant, right: Duration) { left = left + right }

    /// The point so much later, or earlier if that is negative; the last or the first if it does not fit.
    public func adding(saturating duration: Duration) -> Instant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.nanoseconds)
        return overflow ? (duration < .zero ? .min : .max) : Instant(nanoseconds: sum)
    }
}
