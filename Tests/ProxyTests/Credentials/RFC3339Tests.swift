import Events
import Testing

@testable import Proxy

/// Reading times.
@Suite struct RFC3339Tests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0, 0), ("2000-02-29T23:59:59z", 951_868_799, 0),
        ("2026-01-31t12:30:00.25+01:00", 1_769_859_000, 250_000_000),
        ("2026-01-31 12:30:00.1234567899+01:00", 1_769_859_000, 123_456_789),
        ("1900-03-01T00:00:00-00:00", -2_203_891_200, 0), ("2100-02-28T23:00:00-23:59", 4_107_625_140, 0),
        ("1969-12-31T23:59:59.5Z", -1, 500_000_000), ("2016-12-31T23:59:60Z", 1_483_228_800, 0),
        ("2017-01-01T08:59:60.5+09:00", 1_483_228_800, 500_000_000),
    ])
    func `a time is read`(text: String, seconds: Int64, fraction: Int64) {
        #expect(RFC3339.wallTime(text) == seconds * .second + fraction)
    }

    @Test func `a time that nanoseconds do not reach is the last or the first`() {
        #expect(RFC3339.wallTime("9999-12-31T23:59:59.999Z") == .max)
        #expect(RFC3339.wallTime("0000-01-01T00:00:00Z") == .min)
        #expect(RFC3339.wallTime("0001-01-01T00:00:00Z") == .min)
        #expect(RFC3339.wallTime("1252-01-01T00:00:00.123Z") == .min)
    }

    @Test(arguments: [
        "", "2026-01-31", "2026-01-31T12:30:00", "2026-01-31T12:30Z", "2026-1-31T12:30:000Z", "2026-01-31T12:30:00.Z",
        "2026-01-31T12:30:00.5", "2026-01-31T12:30:00+0100", "2026-01-31T12:30:00+01", "2026-01-31T12:30:00+24:00",
        "2026-01-31T12:30:00+01:60", "2026-01-31T12:30:00ZZ", "2026-01-31T12:30:00Z ", "2026-01-31T24:00:00Z",
        "2026-01-31T12:60:00Z", "2026-01-31T12:30:61Z", "2026-01-31T12:30:60Z", "2026-02-29T12:30:00Z",
        "1900-02-29T12:30:00Z", "2026-04-31T12:30:00Z", "2026-13-01T12:30:00Z", "2026-00-01T12:30:00Z",
        "2026-01-00T12:30:00Z", "2026-01-32T12:30:00Z", "2026/01/31T12:30:00Z", "2026-01-31X12:30:00Z",
        "+026-01-31T12:30:00Z", "2026-01-31T12:30:0éZ", "1769859000",
    ])
    func `what is not a duration is not read`(text: String) {
        #expect(RFC3339.wallTime(text) == nil)
    }

    @Test func `each day has its number`() {
        var expected = CivilDay.daysSince1970(year: 1899, month: 12, day: 31)!
        var days = 0
        for year in 1900...2100 {
            for month in 1...12 {
                for day in 1...31 {
                    guard let number = CivilDay.daysSince1970(year: year, month: month, day: day) else { continue }
                    expected += 1
                    days += 1
                    #expect(number == expected)
                }
            }
        }
        // 201 years, of which 49 have a leap day.
        #expect(days == 201 * 365 + 49)
        #expect(CivilDay.daysSince1970(year: 1970, month: 1, day: 1) == 0)
    }
}
