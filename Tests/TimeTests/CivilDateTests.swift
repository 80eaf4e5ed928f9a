import Testing
import Time

@Suite struct CivilDateTests {
    @Test func `every day of 800 years follows the one before, both ways`() {
        let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        var (year, month, day) = (1600, 1, 1)
        for number in -135_140..<157_054 {
            let date = CivilDate(daysSince1970: number)
            guard (date.year, date.month, date.day) == (year, month, day), date.daysSince1970 == number,
                CivilDate(year: year, month: month, day: day) == date
            else {
                Issue.record("day \(number) is \(date), not \(year)-\(month)-\(day)")
                return
            }
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            day += 1
            if day > lengths[month - 1] + (month == 2 && isLeap ? 1 : 0) { (month, day) = (month + 1, 1) }
            if month > 12 { (year, month) = (year + 1, 1) }
        }
        #expect((year, month, day) == (2400, 1, 1))
    }

    @Test(arguments: [
        (2026, 0, 1), (2026, 13, 1), (2026, 1, 0), (2026, 1, 32), (2026, 4, 31), (2026, 2, 29), (1900, 2, 29),
    ])
    func `a day that the calendar does not have is no date`(year: Int, month: Int, day: Int) {
        #expect(CivilDate(year: year, month: month, day: day) == nil)
    }

    @Test(arguments: [(1970, 1, 1, 0), (0, 3, 1, -719_468), (-1, 12, 31, -719_529), (2000, 2, 29, 11_016)])
    func `days count from 1970`(year: Int, month: Int, day: Int, days: Int) {
        #expect(CivilDate(year: year, month: month, day: day)?.daysSince1970 == days)
    }
}
