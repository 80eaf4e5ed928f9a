package import Bytes
package import Time

/// The cookies of an upstream: what its responses have set, for the requests that they are for (RFC 6265 §5.3 and §5.4).
///
/// Pure: the time and the list of public suffixes come from outside.
package struct CookieJar {
    /// What a request is for, or a response comes from.
    package struct Origin: Sendable {
        /// The host in small letters, without a port.
        package let host: [UInt8]
        /// The path of the request in its normal form, without the query.
        package let path: [UInt8]
        /// Whether nobody on the way can read what goes there.
        package let isSecure: Bool

        /// Makes an origin of its three parts.
        package init(host: [UInt8], path: [UInt8], isSecure: Bool) {
            self.host = host
            self.path = URLPath.normal(path.span)
            self.isSecure = isSecure
        }
    }

    /// A field that is longer, in bytes, is not kept.
    package static let maxLength = 4096
    /// How many cookies of one domain are kept.
    package static let maxPerDomain = 50
    /// How many cookies are kept.
    package static let maxCookies = 300
    /// The most bytes of cookies that go with one request.
    package static let maxBytesSent = 8 * 1024

    private struct Cookie {
        let name: [UInt8]
        let value: [UInt8]
        let domain: [UInt8]
        let isHostOnly: Bool
        let path: [UInt8]
        let isSecure: Bool
        /// None lives as long as the jar.
        let expires: WallTime?
        var lastUsed: Int

        func isExpired(at now: WallTime) -> Bool { expires.map { $0 <= now } ?? false }

        func isSame(_ other: Cookie) -> Bool { name == other.name && domain == other.domain && path == other.path }

        func isFor(_ origin: Origin) -> Bool {
            (isHostOnly ? domain == origin.host : CookieJar.matches(origin.host, domain: domain))
                && CookieJar.matches(origin.path, path: path) && (!isSecure || origin.isSecure)
        }
    }

    /// Those with longer paths first, and among these the ones that were made first: so they are sent (§5.4).
    private var cookies: [Cookie] = []
    /// Counts the uses, to tell which was the last.
    private var uses = 0
    private let isPublicSuffix: ([UInt8]) -> Bool

    /// Makes an empty jar.
    ///
    /// - Parameter isPublicSuffix: says whether strangers may register names below a domain in small letters; no cookie
    ///   is for all of them.
    package init(isPublicSuffix: @escaping ([UInt8]) -> Bool) {
        self.isPublicSuffix = isPublicSuffix
    }

    /// How many cookies are kept, those included that are over and have not been looked at since.
    package var count: Int { cookies.count }

    // MARK: Storing

    /// Keeps what the value of a `Set-Cookie` field says, or forgets a cookie that it ends.
    package mutating func store(_ field: Span<UInt8>, from origin: Origin, at now: WallTime) {
        guard field.count <= Self.maxLength, let set = SetCookie(field) else { return }
        var domain = origin.host
        var isHostOnly = true
        if let expected = set.domain, !expected.isEmpty {
            if !isPublicSuffix(expected) {
                guard Self.matches(origin.host, domain: expected) else { return }
                (domain, isHostOnly) = (expected, false)
            } else if expected != origin.host {
                return
            }
        }
        uses += 1
        let cookie = Cookie(
            name: set.name,
            value: set.value,
            domain: domain,
            isHostOnly: isHostOnly,
            path: set.path ?? Self.defaultPath(of: origin.path),
            isSecure: set.isSecure,
            expires: Self.expiry(of: set, at: now),
            lastUsed: uses
        )
        let index = cookies.firstIndex { $0.isSame(cookie) }
        if cookie.isExpired(at: now) {
            if let index { cookies.remove(at: index) }
        } else if let index {
            cookies[index] = cookie
        } else {
            makeRoom(for: domain, at: now)
            let next = cookies.firstIndex { $0.path.count < cookie.path.count } ?? cookies.count
            cookies.insert(cookie, at: next)
        }
    }

    private static func expiry(of set: SetCookie, at now: WallTime) -> WallTime? {
        guard let age = set.maxAge else { return set.expires?.time }
        return now.adding(saturating: age)
    }

    private mutating func makeRoom(for domain: [UInt8], at now: WallTime) {
        let isFull = { (cookies: [Cookie]) in cookies.count { $0.domain == domain } >= Self.maxPerDomain }
        guard isFull(cookies) || cookies.count >= Self.maxCookies else { return }
        cookies.removeAll { $0.isExpired(at: now) }
        if isFull(cookies) { removeOldest { $0.domain == domain } }
        if cookies.count >= Self.maxCookies { removeOldest { _ in true } }
    }

    /// Removes the one that has not been used for the longest time.
    private mutating func removeOldest(where isMeant: (Cookie) -> Bool) {
        let oldest = cookies.indices.filter { isMeant(cookies[$0]) }.min { cookies[$0].lastUsed < cookies[$1].lastUsed }
        if let oldest { cookies.remove(at: oldest) }
    }

    // MARK: Sending

    /// Appends the cookies that a caller has sent, without those whose names the jar has for the request.
    ///
    /// A caller that sees what the jar keeps sends it back, and what it has may be older.
    package func append(others sent: Span<UInt8>, to queue: ByteQueue, for origin: Origin, at now: WallTime) {
        var start = 0
        var isFirst = true
        while start < sent.count {
            let end = sent.firstIndex(of: UInt8(ascii: ";"), from: start) ?? sent.count
            let pair = sent.extracting(start..<end).trimmed
            start = end + 1
            let name = pair.extracting(0..<(pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.count)).trimmed
            guard pair.count > 0, !has(name, for: origin, at: now) else { continue }
            if !isFirst { queue.append("; ") }
            isFirst = false
            queue.append(pair)
        }
    }

    private func has(_ name: Span<UInt8>, for origin: Origin, at now: WallTime) -> Bool {
        cookies.contains { name.equals($0.name) && $0.isFor(origin) && !$0.isExpired(at: now) }
    }

    /// Appends the cookies for a request, `a=1; b=2`, behind `; ` if the queue is not empty; nothing if there are none.
    package mutating func append(to queue: ByteQueue, for origin: Origin, at now: WallTime) {
        uses += 1
        var hasExpired = false
        for index in cookies.indices where cookies[index].isFor(origin) {
            if cookies[index].isExpired(at: now) {
                hasExpired = true
                continue
            }
            let cookie = cookies[index]
            // One that does not fit is left out: many servers reject large heads.
            guard queue.count + cookie.name.count + cookie.value.count < Self.maxBytesSent else { continue }
            if queue.count > 0 { queue.append("; ") }
            queue.append(cookie.name.span, "=", cookie.value.span, "")
            cookies[index].lastUsed = uses
        }
        if hasExpired { cookies.removeAll { $0.isExpired(at: now) } }
    }

    // MARK: Matching

    /// Whether a host is the domain or below it (§5.1.3); no address is below another.
    static func matches(_ host: [UInt8], domain: [UInt8]) -> Bool {
        guard host != domain else { return true }
        guard host.count > domain.count, host.span.hasSuffix(domain) else { return false }
        return host[host.count - domain.count - 1] == UInt8(ascii: ".") && !isAddress(host)
    }

    /// No name has a colon, or nothing but digits and dots.
    private static func isAddress(_ host: [UInt8]) -> Bool {
        host.contains(UInt8(ascii: ":")) || host.allSatisfy { 0x30...0x39 ~= $0 || $0 == UInt8(ascii: ".") }
    }

    /// Whether a request's path is the cookie's, or below it (§5.1.4).
    static func matches(_ path: [UInt8], path cookie: [UInt8]) -> Bool {
        guard path.count > cookie.count else { return path == cookie }
        return path.span.hasPrefix(cookie)
            && (cookie.last == UInt8(ascii: "/") || path[cookie.count] == UInt8(ascii: "/"))
    }

    /// The path of a cookie that says none: the folder of the request (§5.1.4).
    package static func defaultPath(of path: [UInt8]) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        guard path.first == slash, let last = path.lastIndex(of: slash), last > 0 else { return [slash] }
        return Array(path[..<last])
    }
}
