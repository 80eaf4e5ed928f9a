import Bytes
import Testing
import Time

/// `Instant` and `WallTime`, which have the same arithmetic and never mix.
@Suite struct PointsInTimeTests {
    @Test func `the difference of two points is a duration`() {
        #expect((Instant.start + 3 * .second) - (Instant.start + .second) == 2 * .second)
        #expect((WallTime.epoch + 3 * .second) - (WallTime.epoch + .second) == 2 * .second)
    }

    @Test func `a point beyond the last is the last, one before the first is the first`() {
        #expect(Instant.max.adding(saturating: .second) == .max)
        #expect(Instant.min.adding(saturating: -.second) == .min)
        #expect(WallTime.max.adding(saturating: .second) == .max)
        #expect(WallTime.min.adding(saturating: -.second) == .min)
        #expect(WallTime(secondsSince1970: .max) == .max)
        #expect(WallTime.max.duration(saturatingSince: .min) == .max)
        #expect(WallTime.min.duration(saturatingSince: .max) == .min)
    }

    @Test(arguments: [
        (0, 0, 0), (1_500_000_000, 1, 500_000_000), (-1, -1, 999_999_999), (-1_000_000_000, -1, 0),
        (-1_000_000_001, -2, 999_999_999), (Int64.max, 9_223_372_036, 854_775_807),
    ])
    func `seconds are rounded down, also before 1970`(nanoseconds: Int64, seconds: Int, rest: Int) {
        let parts = WallTime(nanoseconds: nanoseconds).secondsAndNanoseconds
        #expect(parts == (seconds, rest))
    }

    @Test func `a date of HTTP is read in each of its forms`() {
        let now = WallTime(secondsSince1970: 1_795_173_133)
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        ] {
            #expect(HTTPDate(Array(text.utf8).span, now: now)?.time == WallTime(secondsSince1970: 784_111_777))
        }
        // A year of two digits is none of more than 50 years ahead.
        let near = HTTPDate(Array("Sunday, 06-Nov-76 08:49:37 GMT".utf8).span, now: now)
        #expect(near?.time == WallTime(secondsSince1970: 3_371_878_177))
    }

    @Test(
        "a date is written in the form that is sent, and read again",
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (1_795_824_000, "Sat, 28 Nov 2026 00:00:00 GMT"),
        ]
    )
    func writesDates(_ seconds: Int, _ text: String) {
        let time = WallTime(secondsSince1970: seconds)
        #expect(String(decoding: HTTPDate.text(of: time), as: UTF8.self) == text)
        #expect(HTTPDate(Array(text.utf8).span, now: time)?.time == time)
    }
}
