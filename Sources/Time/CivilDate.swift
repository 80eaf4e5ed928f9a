/// A date of the Gregorian calendar in UTC.
public struct CivilDate: Equatable, Sendable {
    /// The year; the one before 1 is 0.
    public let year: Int
    /// The month, 1 to 12.
    public let month: Int
    /// The day of the month, from 1.
    public let day: Int

    /// Makes a date; nil if the calendar does not have it.
    public init?(year: Int, month: Int, day: Int) {
        guard 1...12 ~= month, 1...Self.lastDay(of: month, in: year) ~= day else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// Makes the date that lies `days` days after 1 January 1970.
    ///
    /// Counts years from 1 March, so that the leap day is the last of a year, in eras of 400 years, which are all
    /// equally long.
    public init(daysSince1970 days: Int) {
        let daysPerEra = 146_097
        let sinceMarch0 = days + Self.daysFromMarch0To1970
        let era = Self.floor(sinceMarch0, daysPerEra)
        let dayOfEra = sinceMarch0 - era * daysPerEra
        let leapDays = dayOfEra / 1460 - dayOfEra / 36_524 + dayOfEra / 146_096
        let yearOfEra = (dayOfEra - leapDays) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthSinceMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthSinceMarch + 2) / 5 + 1
        month = monthSinceMarch < 10 ? monthSinceMarch + 3 : monthSinceMarch - 9
        year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    }

    /// How many days the date lies after 1 January 1970; negative before it.
    public var daysSince1970: Int {
        let marchYear = month > 2 ? year : year - 1
        let monthSinceMarch = (month + 9) % 12
        let leapDays = Self.floor(marchYear, 4) - Self.floor(marchYear, 100) + Self.floor(marchYear, 400)
        let dayOfYear = (153 * monthSinceMarch + 2) / 5 + day - 1
        return 365 * marchYear + leapDays + dayOfYear - Self.daysFromMarch0To1970
    }

    /// The days from 1 March of the year 0 to 1 January 1970.
    private static let daysFromMarch0To1970 = 719_468

    private static func lastDay(of month: Int, in year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The quotient, rounded down: the year before 0 is -1.
    private static func floor(_ value: Int, _ divisor: Int) -> Int {
        value >= 0 ? value / divisor : (value - divisor + 1) / divisor
    }
}
