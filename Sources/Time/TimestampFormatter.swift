public import Bytes

/// Formats times as RFC 3339 in UTC with milliseconds: `2026-11-20T11:12:13.123Z`.
///
/// Keeps the text of the last second, because most lines of a log share theirs with the one before. Belongs to one
/// thread. Years beyond 9999 have no text in RFC 3339.
public final class TimestampFormatter {
    private var second = Int.min
    private var text: [UInt8] = []

    /// Makes a formatter.
    public init() {}

    /// Appends a time, cut to the millisecond and not rounded.
    public func append(_ time: WallTime, to queue: ByteQueue) {
        let (seconds, nanoseconds) = time.secondsAndNanoseconds
        if seconds != second {
            second = seconds
            text = Self.text(ofSecond: seconds)
        }
        queue.append(text)
        queue.append(padded: nanoseconds / 1_000_000, digits: 3)
        queue.append(byte: UInt8(ascii: "Z"))
    }

    /// The text of one time.
    public static func text(_ time: WallTime) -> String {
        let queue = ByteQueue()
        TimestampFormatter().append(time, to: queue)
        return queue.readable.string
    }

    /// The text up to and with the decimal point.
    private static func text(ofSecond seconds: Int) -> [UInt8] {
        let secondsPerDay = 86_400
        let secondOfDay = (seconds % secondsPerDay + secondsPerDay) % secondsPerDay
        let date = CivilDate(daysSince1970: (seconds - secondOfDay) / secondsPerDay)
        let line = ByteQueue()
        line.append(padded: date.year, digits: 4)
        line.append("-")
        line.append(padded: date.month, digits: 2)
        line.append("-")
        line.append(padded: date.day, digits: 2)
        line.append("T")
        line.append(padded: secondOfDay / 3600, digits: 2)
        line.append(":")
        line.append(padded: secondOfDay / 60 % 60, digits: 2)
        line.append(":")
        line.append(padded: secondOfDay % 60, digits: 2)
        line.append(".")
        return line.readable.array
    }
}
