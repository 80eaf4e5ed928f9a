import Bytes
import Testing
import Time

/// The dates of cookies (RFC 6265 §5.1.1).
@Suite struct CookieDateTests {
    private func time(_ text: String) -> WallTime? {
        CookieDate(Array(text.utf8).span)?.time
    }

    @Test(arguments: [
        // RFC 9110 §5.6.7, in its three forms.
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Thu, 01-Jan-1970 00:00:01 GMT", 1),
        ("Wed, 31 Dec 1969 23:59:59 GMT", -1), ("1 jan 1601 0:0:0", -11_644_473_600),
        ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600), ("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800),
        ("Tue, 19 Jan 2038 03:14:08 GMT", 2_147_483_648), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        // Two digits of a year.
        ("1 Jan 70 0:0:0", 0), ("1 Jan 69 0:0:0", 3_124_224_000), ("1 Jan 99 0:0:0", 915_148_800),
        // Any order, any delimiter, and whatever stands behind a part.
        ("1994 nOVember;06th,08:49:37.5", 784_111_777), ("(8:49:37)/[6]_nov\t94", 784_111_777),
        // The first of each sort counts.
        ("6 Nov Dec 1994 08:49:37 09:00:00", 784_111_777),
    ])
    func `a date is found`(_ text: String, _ expected: Int) {
        #expect(time(text) == WallTime(secondsSince1970: expected))
    }

    @Test(arguments: [
        "", "tomorrow", "Sun, 06 Nov 1994", "06 1994 08:49:37", "Nov 1994 08:49:37", "06 Nov 08:49:37",
        "06 7 Nov 08:49:37",
        "30 Feb 2024 00:00:00", "29 Feb 2023 00:00:00", "29 Feb 1900 00:00:00", "31 Apr 2024 00:00:00",
        "0 Jan 2024 00:00:00", "32 Jan 2024 00:00:00", "1 Jan 1600 00:00:00", "1 Jan 20245 00:00:00",
        "1 Jan 2024 24:00:00", "1 Jan 2024 00:60:00", "1 Jan 2024 00:00:60", "1 Jan 2024 00:00",
        "1 Jan 2024 000:00:00", "1 Jan 2024 00:00:000", "1 Jan 2024 00::00",
    ])
    func `no date is found`(_ text: String) {
        #expect(time(text) == nil)
    }
}
