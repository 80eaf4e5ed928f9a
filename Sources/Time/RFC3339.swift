internal import Bytes

/// Reads times such as `2026-01-31T12:30:00.25+01:00` (RFC 3339 §5.6).
public enum RFC3339 {
    /// The time; nil for what is no time of RFC 3339.
    ///
    /// A space may stand for the `T`. What comes behind the ninth digit of a fraction is cut off, and a year that
    /// nanoseconds do not reach gives the last or the first time that they do. A leap second counts as the next one.
    public static func wallTime(_ text: String) -> WallTime? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, let time = secondsOfDay(bytes[11..<19]), "Tt ".utf8.contains(bytes[10]),
            bytes[4] == dash, bytes[7] == dash,
            let year = number(bytes[0..<4]), let month = number(bytes[5..<7]), let day = number(bytes[8..<10]),
            let date = CivilDate(year: year, month: month, day: day)
        else { return nil }
        var rest = bytes[19...]
        guard let fraction = readFraction(&rest), let offset = offset(rest) else { return nil }
        let seconds = date.daysSince1970 * 86_400 + time - offset
        // Only the last second of a day of UTC can be a leap second.
        let isLeapSecond = bytes[17] == UInt8(ascii: "6")
        guard !isLeapSecond || seconds % 86_400 == 0 else { return nil }
        let whole = WallTime(secondsSince1970: seconds)
        return whole == .min ? .min : whole.adding(saturating: fraction)
    }

    /// The second of the day that `HH:MM:SS` stands for; up to 60 for the seconds.
    static func secondsOfDay(_ text: ArraySlice<UInt8>) -> Int? {
        let start = text.startIndex
        guard text.count == 8, text[start + 2] == colon, text[start + 5] == colon,
            let hour = number(text[start..<start + 2]), hour < 24,
            let minute = number(text[start + 3..<start + 5]), minute < 60,
            let second = number(text[start + 6..<start + 8]), second <= 60
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    /// The number that digits, and nothing else, stand for.
    static func number(_ text: ArraySlice<UInt8>) -> Int? {
        Array(text).span.decimal
    }

    private static let dash = UInt8(ascii: "-")
    private static let colon = UInt8(ascii: ":")

    /// Takes a fraction of a second off the front, if there is one; nil for a point without digits.
    private static func readFraction(_ text: inout ArraySlice<UInt8>) -> Duration? {
        guard text.first == UInt8(ascii: ".") else { return .zero }
        let digits = text.dropFirst().prefix { 0x30...0x39 ~= $0 }
        text = text[digits.endIndex...]
        guard !digits.isEmpty else { return nil }
        var fraction: Int64 = 0
        var unit = Duration.second.nanoseconds / 10
        for digit in digits.prefix(9) {
            fraction += Int64(digit - 0x30) * unit
            unit /= 10
        }
        return .nanoseconds(fraction)
    }

    /// How many seconds the local time is ahead of UTC: `Z`, `+HH:MM` or `-HH:MM`, and nothing behind it.
    private static func offset(_ text: ArraySlice<UInt8>) -> Int? {
        guard let sign = text.first else { return nil }
        if text.count == 1 { return sign | 0x20 == UInt8(ascii: "z") ? 0 : nil }
        guard sign == UInt8(ascii: "+") || sign == dash,
            let time = secondsOfDay(text.dropFirst() + Array(":00".utf8))
        else { return nil }
        return sign == dash ? -time : time
    }
}
