/// A time of day in UTC (`CLOCK_REALTIME`), in nanoseconds since 1970-01-01T00:00:00Z without leap seconds.
///
/// It can jump when somebody sets the system clock. What has to last a length of time goes by `Instant`.
public struct WallTime: BitwiseCopyable, Hashable, Comparable, Sendable {
    /// The nanoseconds since 1970-01-01T00:00:00Z.
    public let nanoseconds: Int64

    /// The point that lies so many nanoseconds behind the first.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// 1970-01-01T00:00:00Z.
    public static let epoch = WallTime(nanoseconds: 0)
    /// The last that there is, which stands for "never".
    public static let max = WallTime(nanoseconds: .max)
    /// The first that there is, which stands for "always".
    public static let min = WallTime(nanoseconds: .min)

    public static func < (left: WallTime, right: WallTime) -> Bool { left.nanoseconds < right.nanoseconds }

    public static func + (left: WallTime, right: Duration) -> WallTime {
        WallTime(nanoseconds: left.nanoseconds + right.nanoseconds)
    }

    public static func - (left: WallTime, right: Duration) -> WallTime {
        WallTime(nanoseconds: left.nanoseconds - right.nanoseconds)
    }

    /// The time from the second to the first.
    public static func - (left: WallTime, right: WallTime) -> Duration {
        Duration(left.nanoseconds - right.nanoseconds)
    }

    public static func += (left: inout WallTime, right: Duration) { left = left + right }

    /// The point so much later, or earlier if that is negative; the last or the first if it does not fit.
    public func adding(saturating duration: Duration) -> WallTime {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.nanoseconds)
        return overflow ? (duration < .zero ? .min : .max) : WallTime(nanoseconds: sum)
    }

    /// So many seconds after 1970-01-01T00:00:00Z; the last or the first time if that does not fit.
    public init(secondsSince1970 seconds: Int) {
        self.init(nanoseconds: Duration.seconds(seconds).nanoseconds)
    }

    /// The time so long after 1970-01-01T00:00:00Z.
    public init(sinceEpoch duration: Duration) {
        self.init(nanoseconds: duration.nanoseconds)
    }

    /// The whole seconds since 1970, rounded down, and the nanoseconds of the second that has begun, 0 to 999,999,999.
    public var secondsAndNanoseconds: (seconds: Int, nanoseconds: Int) {
        let (whole, part) = nanoseconds.quotientAndRemainder(dividingBy: Duration.second.nanoseconds)
        return part < 0
            ? (Int(whole) - 1, Int(part + Duration.second.nanoseconds)) : (Int(whole), Int(part))
    }

    /// The time from the second to the first; the longest or the shortest if it does not fit.
    public func duration(saturatingSince other: WallTime) -> Duration {
        let (difference, overflow) = nanoseconds.subtractingReportingOverflow(other.nanoseconds)
        return overflow ? (self < other ? .min : .max) : Duration(difference)
    }
}
