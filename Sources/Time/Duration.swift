/// A length of time in whole nanoseconds, at most about 292 years; negative if it leads back.
///
/// Not the `Duration` of the standard library, which has 128 bits: this one is an `Int64` and costs what one costs.
public struct Duration: BitwiseCopyable, Hashable, Comparable, Sendable {
    /// The length in nanoseconds.
    public let nanoseconds: Int64

    init(_ nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// No time.
    public static let zero = Duration(0)
    /// One millisecond.
    public static let millisecond = Duration(1_000_000)
    /// One second.
    public static let second = Duration(1_000_000_000)
    /// The longest, which stands for "without end".
    public static let max = Duration(.max)
    /// The shortest; even shorter than none.
    public static let min = Duration(.min)

    /// A number of nanoseconds.
    public static func nanoseconds(_ count: Int64) -> Duration { Duration(count) }

    /// A number of microseconds; traps if it does not fit.
    public static func microseconds(_ count: Int) -> Duration { Duration(Int64(count) * 1000) }

    /// A number of milliseconds; traps if it does not fit.
    public static func milliseconds(_ count: Int) -> Duration { Duration(Int64(count) * 1_000_000) }

    /// A number of seconds; the longest or the shortest duration if it does not fit.
    public static func seconds(_ count: Int) -> Duration {
        let (product, overflow) = Int64(count).multipliedReportingOverflow(by: second.nanoseconds)
        return overflow ? (count < 0 ? .min : .max) : Duration(product)
    }

    /// A number of nanoseconds, without its fraction; the nearest that fits, and none if it is no number.
    public init(clampingNanoseconds nanoseconds: Double) {
        self.init(
            Int64(exactly: nanoseconds.rounded(.towardZero)) ?? (nanoseconds < 0 ? .min : nanoseconds > 0 ? .max : 0)
        )
    }

    /// Whole seconds, cut.
    public var seconds: Int { Int(nanoseconds / Self.second.nanoseconds) }

    /// Seconds with their fraction, as near as a `Double` comes.
    public var fractionalSeconds: Double { Double(nanoseconds) / 1e9 }

    /// Whole microseconds, cut.
    public var microseconds: Int { Int(nanoseconds / 1000) }

    /// Whole milliseconds, cut.
    public var milliseconds: Int { Int(nanoseconds / Self.millisecond.nanoseconds) }

    public static func < (left: Duration, right: Duration) -> Bool { left.nanoseconds < right.nanoseconds }

    public static func + (left: Duration, right: Duration) -> Duration {
        Duration(left.nanoseconds + right.nanoseconds)
    }

    public static func - (left: Duration, right: Duration) -> Duration {
        Duration(left.nanoseconds - right.nanoseconds)
    }

    /// The product; the longest or the shortest duration if it does not fit.
    public func multiplied(saturating factor: Int64) -> Duration {
        let (product, overflow) = nanoseconds.multipliedReportingOverflow(by: factor)
        return overflow ? ((nanoseconds < 0) == (factor < 0) ? .max : .min) : Duration(product)
    }

    /// The duration times a factor, without a fraction of a nanosecond; the nearest that fits.
    public func scaled(by factor: Double) -> Duration { Duration(clampingNanoseconds: Double(nanoseconds) * factor) }

    public static prefix func - (duration: Duration) -> Duration { Duration(-duration.nanoseconds) }

    public static func * (left: Int, right: Duration) -> Duration { Duration(Int64(left) * right.nanoseconds) }

    public static func / (left: Duration, right: Int) -> Duration { Duration(left.nanoseconds / Int64(right)) }

    /// How many times the second fits into the first.
    public static func / (left: Duration, right: Duration) -> Int { Int(left.nanoseconds / right.nanoseconds) }

    /// What is left after the second was taken off as often as it fits.
    public static func % (left: Duration, right: Duration) -> Duration {
        Duration(left.nanoseconds % right.nanoseconds)
    }

    public static func += (left: inout Duration, right: Duration) { left = left + right }

    public static func -= (left: inout Duration, right: Duration) { left = left - right }
}
