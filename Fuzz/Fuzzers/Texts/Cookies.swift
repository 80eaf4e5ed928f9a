internal import Bytes
internal import Policy
internal import PublicSuffixes
internal import Time

/// `Set-Cookie` fields, one in a line, and the dates in them and in `Retry-After`.
enum Cookies {
    private static let now = WallTime(secondsSince1970: 1_700_000_000)

    static func run(_ input: Span<UInt8>) {
        var jar = CookieJar()
        let here = CookieJar.Origin(host: Array("a.example.org".utf8), path: Array("/x/y".utf8), isSecure: true)
        let sets = input.array.split(separator: 0x0a).prefix(400)
        for set in sets {
            let field = Array(set)
            if let cookie = Cookie(field.span, from: here, at: now, isPublicSuffix: PublicSuffixes.contains) {
                jar.store(cookie, at: now)
            }
        }
        demand(jar.count <= CookieJar.maxCookies && jar.count <= sets.count, "a jar has its limits")
        let sent = cookies(&jar, here)
        demand(sent.count <= CookieJar.maxBytesSent + 2, "a request has its limits")
        demand(!sent.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f }, "a field has no controls")
        let ends = sent.count { $0 == UInt8(ascii: ";") }
        demand(ends < max(jar.count, 1), "no cookie looks like several: \(String(latin1: sent))")
        let stranger = CookieJar.Origin(host: Array("b.example.net".utf8), path: here.path, isSecure: true)
        demandSame(cookies(&jar, stranger), [], "strangers get nothing")
        let bare = CookieJar.Origin(host: here.host, path: here.path, isSecure: false)
        demand(cookies(&jar, bare).count <= sent.count, "less goes where it can be read")
        dates(input)
    }

    private static func cookies(_ jar: inout CookieJar, _ origin: CookieJar.Origin) -> [UInt8] {
        let queue = ByteQueue()
        jar.select(for: origin, at: now).append(to: queue)
        return queue.readable.array
    }

    private static func dates(_ input: Span<UInt8>) {
        if let time = RetryAfter.time(input, now: now) { demand(time >= .zero, "no time is negative") }
        _ = RetryPushback(input)
        guard let date = HTTPDate(input, now: now) else { return }
        // Two digits of a year mean something else in cookies, which know no leap seconds and nothing before 1601 either.
        guard let cookie = CookieDate(input), input.firstIndex(of: UInt8(ascii: "-")) == nil else { return }
        demandSame(date.time, cookie.time, "both readers of dates agree on \(input.string)")
    }
}
