/// A date of the Gregorian calendar in UTC.
struct CivilDate: Equatable {
    let year: Int
    let month: Int
    let day: Int

    /// The date `days` days after 1 January 1970.
    ///
    /// Counts years from 1 March, so that the leap day is the last of a year, in eras of 400 years, which are all
    /// equally long.
    init(daysSince1970 days: Int) {
        let daysPerEra = 146_097
        let sinceMarch0 = days + 719_468  // 1 March of the year 0
        let era = (sinceMarch0 >= 0 ? sinceMarch0 : sinceMarch0 - daysPerEra + 1) / daysPerEra
        let dayOfEra = sinceMarch0 - era * daysPerEra
        let leapDays = dayOfEra / 1460 - dayOfEra / 36_524 + dayOfEra / 146_096
        let yearOfEra = (dayOfEra - leapDays) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthSinceMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthSinceMarch + 2) / 5 + 1
        month = monthSinceMarch < 10 ? monthSinceMarch + 3 : monthSinceMarch - 9
        year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    }
}
