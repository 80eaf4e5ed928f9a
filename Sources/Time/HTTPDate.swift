internal import Bytes

/// A time of day as a field of HTTP says it, in any of the three forms that a recipient has to know (RFC 9110 §5.6.7).
///
/// ```
/// Sun, 06 Nov 1994 08:49:37 GMT      IMF-fixdate
/// Sunday, 06-Nov-94 08:49:37 GMT     RFC 850
/// Sun Nov  6 08:49:37 1994           asctime()
/// ```
public struct HTTPDate: Equatable, Sendable {
    /// The time; a leap second counts as the one behind it.
    public let time: WallTime

    /// Reads a date; nil if it is none.
    ///
    /// Whether the day of the week is the right one does not matter.
    ///
    /// - Parameters:
    ///   - text: the value of the field.
    ///   - now: the time of day: a year of two digits is none of more than 50 years ahead.
    public init?(_ text: Span<UInt8>, now: WallTime) {
        var fields = DateFields(text)
        guard let form = fields.readDayOfWeek() else { return nil }
        let date: (year: Int, month: Int, day: Int)?
        let second: Int?
        switch form {
        case .fixdate:
            date = fields.readFixdate(separator: " ", yearDigits: 4)
            second = fields.readTime(ending: " GMT")
        case .rfc850:
            date = fields.readFixdate(separator: "-", yearDigits: 2).map { year, month, day in
                (Self.century(of: year, now: now) + year, month, day)
            }
            second = fields.readTime(ending: " GMT")
        case .asctime:
            let (month, day) = (fields.readMonth(), fields.readPaddedDay())
            second = fields.readTime(ending: " ")
            let year = fields.readNumber(4)
            date = if let month, let day, let year { (year, month, day) } else { nil }
        }
        guard let date, let second, fields.isAtEnd,
            let day = CivilDate(year: date.year, month: date.month, day: date.day)
        else { return nil }
        time = WallTime(secondsSince1970: day.daysSince1970 * 86_400 + second)
    }

    /// The century of a year of two digits: the last in which it is not more than 50 years ahead.
    private static func century(of year: Int, now: WallTime) -> Int {
        // Years of mean length will do: what is 50 years ahead is nobody's `retry-after`.
        let thisYear = 1970 + now.secondsAndNanoseconds.seconds / 31_556_952
        let century = (thisYear + 50) / 100 * 100
        return century + year > thisYear + 50 ? century - 100 : century
    }
}

/// The parts of a date, from its first byte on.
struct DateFields: ~Escapable {
    enum Form {
        case fixdate, rfc850, asctime
    }

    private let text: Span<UInt8>
    private var position = 0

    @_lifetime(copy text)
    init(_ text: Span<UInt8>) {
        self.text = text
    }

    var isAtEnd: Bool { position == text.count }

    /// Takes the day of the week, and tells by how it ends which form this is.
    mutating func readDayOfWeek() -> Form? {
        let short: [StaticString] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
        let rest: [StaticString] = ["day", "sday", "nesday", "rsday", "day", "urday", "day"]
        guard let day = readOne(of: short) else { return nil }
        if read(", ") { return .fixdate }
        if read(" ") { return .asctime }
        return read(rest[day - 1]) && read(", ") ? .rfc850 : nil
    }

    /// Takes day, month, year and the blank behind them.
    mutating func readFixdate(separator: StaticString, yearDigits: Int) -> (year: Int, month: Int, day: Int)? {
        guard let day = readNumber(2), day > 0, read(separator), let month = readOne(of: Self.months), read(separator),
            let year = readNumber(yearDigits), read(" ")
        else { return nil }
        return (year, month, day)
    }

    /// Takes a month and the blank behind it.
    mutating func readMonth() -> Int? {
        guard let month = readOne(of: Self.months), read(" ") else { return nil }
        return month
    }

    /// Takes a day of two digits, or of a blank and one, and the blank behind it.
    mutating func readPaddedDay() -> Int? {
        guard let day = read(" ") ? readNumber(1) : readNumber(2), day > 0, read(" ") else { return nil }
        return day
    }

    /// Takes `08:49:37` and what ends it; the seconds since midnight.
    mutating func readTime(ending: StaticString) -> Int? {
        guard let hour = readNumber(2), hour < 24, read(":"), let minute = readNumber(2), minute < 60, read(":"),
            let second = readNumber(2), second <= 60, read(ending)
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    /// Takes so many digits.
    mutating func readNumber(_ digits: Int) -> Int? {
        guard text.count - position >= digits else { return nil }
        let number = text.extracting(position..<position + digits).decimal
        position += digits
        return number
    }

    static let months: [StaticString] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Takes one of the words; its number, from 1 on.
    private mutating func readOne(of words: [StaticString]) -> Int? {
        for (index, word) in words.enumerated() where read(word) { return index + 1 }
        return nil
    }

    /// Takes the text, if it is what comes next.
    private mutating func read(_ word: StaticString) -> Bool {
        guard text.extracting(position..<text.count).hasPrefix(word) else { return false }
        position += word.utf8CodeUnitCount
        return true
    }
}
