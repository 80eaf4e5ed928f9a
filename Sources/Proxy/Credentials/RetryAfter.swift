internal import Bytes
package import Events

/// Reads the header `Retry-After` (RFC 9110 §10.2.3).
package enum RetryAfter {
    /// How long to wait at the wall time `now`, 0 for a time that is over; nil for what is neither a number of seconds
    /// nor an IMF-fixdate.
    package static func pause(_ value: [UInt8], at now: Nanoseconds) -> Nanoseconds? {
        let text = value.span.trimmed.array
        if let seconds = text.span.decimal { return Nanoseconds(seconds: seconds) }
        return date(text[...]).map { max(0, $0.addingSaturated(-now)) }
    }

    /// The wall time of a date such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7); the day of the week may be
    /// a wrong one.
    private static func date(_ text: ArraySlice<UInt8>) -> Nanoseconds? {
        let words = text.split(separator: 0x20, omittingEmptySubsequences: false)
        guard words.count == 6, words[0].count == 4, words[0].last == UInt8(ascii: ","),
            words[1].count == 2, words[3].count == 4, words[5].elementsEqual("GMT".utf8),
            let day = RFC3339.number(words[1]), let year = RFC3339.number(words[3]),
            let month = months.firstIndex(of: String(decoding: words[2], as: UTF8.self)),
            let days = CivilDay.daysSince1970(year: year, month: month + 1, day: day),
            let time = RFC3339.secondsOfDay(words[4])
        else { return nil }
        return Nanoseconds(seconds: days * 86_400 + time)
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
