internal import Bytes

/// The date of a cookie's `Expires`, read as leniently as RFC 6265 §5.1.1 asks for.
public struct CookieDate: Equatable, Sendable {
    /// The time.
    public let time: WallTime

    /// Finds the time, the day, the month and the year, in whatever order; none if one of them is missing or no date
    /// has it.
    public init?(_ text: Span<UInt8>) {
        var parts = Parts()
        var start = 0
        while start < text.count {
            var end = start
            while end < text.count, !text[end].isCookieDateDelimiter { end += 1 }
            if end > start { parts.read(text.extracting(start..<end)) }
            start = end + 1
        }
        guard let clock = parts.time, let day = parts.day, let month = parts.month, let year = parts.fullYear,
            year >= 1601, clock.hour < 24, clock.minute < 60, clock.second < 60,
            let date = CivilDate(year: year, month: month, day: day)
        else { return nil }
        let hours = date.daysSince1970 * 24 + clock.hour
        time = WallTime(secondsSince1970: (hours * 60 + clock.minute) * 60 + clock.second)
    }
}

/// What has been found of a date; the first that fits counts.
private struct Parts {
    var time: (hour: Int, minute: Int, second: Int)?
    var day: Int?
    /// From 1.
    var month: Int?
    var year: Int?

    private static let months: [StaticString] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    /// The year with its century, where two digits stand for 1970 to 2069.
    var fullYear: Int? {
        year.map { $0 < 70 ? $0 + 2000 : $0 < 100 ? $0 + 1900 : $0 }
    }

    mutating func read(_ token: Span<UInt8>) {
        if time == nil, let found = Self.time(token) {
            time = found
        } else if day == nil, let found = Self.number(token, 1...2) {
            day = found
        } else if month == nil, let found = Self.month(token) {
            month = found
        } else if year == nil, let found = Self.number(token, 2...4) {
            year = found
        }
    }

    /// A number at the start of so many digits, behind which anything but a digit may stand.
    private static func number(_ token: Span<UInt8>, _ digits: ClosedRange<Int>) -> Int? {
        var count = 0
        while count < token.count, token[count].isDigit { count += 1 }
        return digits ~= count ? token.extracting(0..<count).decimal : nil
    }

    private static func time(_ token: Span<UInt8>) -> (hour: Int, minute: Int, second: Int)? {
        guard let first = token.firstIndex(of: UInt8(ascii: ":")),
            let second = token.firstIndex(of: UInt8(ascii: ":"), from: first + 1), first <= 2, second - first <= 3,
            let hour = token.extracting(0..<first).decimal,
            let minute = token.extracting(first + 1..<second).decimal,
            let seconds = number(token.extracting(second + 1..<token.count), 1...2)
        else { return nil }
        return (hour, minute, seconds)
    }

    private static func month(_ token: Span<UInt8>) -> Int? {
        guard token.count >= 3 else { return nil }
        let name = token.extracting(0..<3)
        return months.firstIndex { name.equalsIgnoringCase($0) }.map { $0 + 1 }
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { 0x30...0x39 ~= self }

    /// Whether the byte stands between the parts of a date (RFC 6265 §5.1.1, `delimiter`).
    fileprivate var isCookieDateDelimiter: Bool {
        switch self {
        case 0x09, 0x20...0x2f, 0x3b...0x40, 0x5b...0x60, 0x7b...0x7e: true
        default: false
        }
    }
}
