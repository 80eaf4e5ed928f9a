import Bytes
import Testing

@testable import Telemetry

@Suite struct TimestampFormatterTests {
    @Test(arguments: [
        (0, 0, "1970-01-01T00:00:00.000Z"),
        (-1, 999_999_999, "1969-12-31T23:59:59.999Z"),
        (951_782_400, 0, "2000-02-29T00:00:00.000Z"),
        (1_709_251_199, 1_000_000, "2024-02-29T23:59:59.001Z"),
        (1_709_251_200, 999_999, "2024-03-01T00:00:00.000Z"),
        (1_795_173_133, 123_987_654, "2026-11-20T11:12:13.123Z"),
        (4_107_542_399, 0, "2100-02-28T23:59:59.000Z"),
        (4_107_542_400, 0, "2100-03-01T00:00:00.000Z"),
        (253_402_300_799, 0, "9999-12-31T23:59:59.000Z"),
    ])
    func `times are formatted in UTC`(seconds: Int, nanoseconds: Int, expected: String) {
        let formatter = TimestampFormatter()
        #expect(text { formatter.append(seconds: seconds, nanoseconds: nanoseconds, to: $0) } == expected)
    }

    @Test func `the text follows the second, forward and back`() {
        let formatter = TimestampFormatter()
        let rendered = text {
            for seconds in [59, 59, 60, 59] { formatter.append(seconds: seconds, nanoseconds: 0, to: $0) }
        }
        #expect(
            rendered == "1970-01-01T00:00:59.000Z" + "1970-01-01T00:00:59.000Z" + "1970-01-01T00:01:00.000Z"
                + "1970-01-01T00:00:59.000Z"
        )
    }

    @Test func `every day of 800 years follows the one before`() {
        let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        var (year, month, day) = (1600, 1, 1)
        for number in -135_140..<157_054 {
            let date = CivilDate(daysSince1970: number)
            guard (date.year, date.month, date.day) == (year, month, day) else {
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
}
