/// Days of the Gregorian calendar.
enum CivilDay {
    /// How many days a date lies behind 1 January 1970; nil if there is no such date.
    static func daysSince1970(year: Int, month: Int, day: Int) -> Int? {
        guard 1...12 ~= month, 1...lastDay(of: month, in: year) ~= day else { return nil }
        // Years that begin in March have the leap day as their last.
        let marchYear = month > 2 ? year : year - 1
        let monthSinceMarch = (month + 9) % 12
        let leapDays = floor(marchYear, 4) - floor(marchYear, 100) + floor(marchYear, 400)
        let dayOfYear = (153 * monthSinceMarch + 2) / 5 + day - 1
        return 365 * marchYear + leapDays + dayOfYear - 719_468
    }

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
