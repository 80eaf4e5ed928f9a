import Bytes
import Policy
import Testing
import Time

/// What a server says of the time at which it wants to be asked again.
@Suite struct RetryAfterTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT.
    private static let now = WallTime(secondsSince1970: 784_111_777)

    private func time(_ text: String, now: WallTime = Self.now) -> Duration? {
        RetryAfter.time(Array(text.utf8).span, now: now)
    }

    @Test(arguments: [("0", 0), ("120", 120), (" 7\t", 7), ("007", 7)])
    func `it can be a number of seconds`(_ text: String, _ seconds: Int) {
        #expect(time(text) == seconds * .second)
    }

    @Test(arguments: ["9223372037", "99999999999999999999999999"])
    func `more seconds than there is time for are the longest time`(_ text: String) {
        #expect(time(text) == .max)
    }

    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:50:37 GMT", 60),
        ("Sunday, 06-Nov-94 08:50:37 GMT", 60),
        ("Sun Nov  6 08:50:37 1994", 60),
        ("Wed Nov 16 08:49:37 1994", 10 * 86_400),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Sat, 01 Jan 0000 00:00:00 GMT", 0),
        ("Sun, 06 Nov 1994 08:49:60 GMT", 23),
        ("Tue, 29 Feb 2000 08:49:37 GMT", 1941 * 86_400),
    ])
    func `it can be a date in each of the three forms`(_ text: String, _ seconds: Int) {
        #expect(time(text) == seconds * .second)
    }

    @Test func `what is left of the second counts`() {
        #expect(time("Sun, 06 Nov 1994 08:49:38 GMT", now: Self.now + 400 * .millisecond) == 600 * .millisecond)
    }

    @Test func `a date too far off is the longest time`() {
        #expect(time("Fri, 31 Dec 9999 23:59:59 GMT") == .max)
    }

    @Test(arguments: [
        // 6 Nov 2044 is 50 years ahead and stands; 2045 would be 51.
        ("Sunday, 06-Nov-44 08:49:37 GMT", 2_362_034_977),
        ("Monday, 06-Nov-45 08:49:37 GMT", nil),
    ])
    func `a year of two digits is not more than 50 years ahead`(_ text: String, _ seconds: Int?) {
        #expect(time(text) == seconds.map { WallTime(secondsSince1970: $0) - Self.now } ?? .zero)
    }

    @Test(arguments: [
        "", " ", "-1", "+1", "1.5", "1s", "soon", "0x10", "1, 2",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Wed, 30 Feb 1994 08:49:37 GMT", "Tue, 29 Feb 1900 08:49:37 GMT",
        "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sunda, 06-Nov-94 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT ;", "Sun Nov 6 08:49:37 1994", "Sun, 06-Nov-94 08:49:37 GMT",
        "Sunday, 06 Nov 1994 08:49:37 GMT", "Sun", "Sun,", "Sun, 06 Nov 1994 08:4",
    ])
    func `anything else says nothing`(_ text: String) {
        #expect(time(text) == nil)
    }

    // MARK: gRPC

    @Test(arguments: [
        ("0", RetryPushback.after(.zero)), ("250", .after(250 * .millisecond)), (" 5 ", .after(5 * .millisecond)),
        ("2147483647", .after(2_147_483_647 * .millisecond)), ("2147483648", .never), ("-1", .never), ("", .never),
        ("soon", .never), ("1.5", .never), ("99999999999999999999", .never),
    ])
    func `a gRPC server that says no time wants no retry`(_ text: String, _ pushback: RetryPushback) {
        #expect(RetryPushback(Array(text.utf8).span) == pushback)
    }
}
