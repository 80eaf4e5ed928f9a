internal import Bytes
package import Time

/// The cookies of an upstream: what its responses have set, for the requests that they are for (RFC 6265 §5.3 and §5.4).
///
/// Pure: the time comes from outside.
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

    /// Those with longer paths first, and among these the ones that were made first: so they are sent (§5.4).
    private var cookies: [Cookie] = []
    /// Counts the uses, to tell which was the last.
    private var uses = 0

    /// Makes an empty jar.
    package init() {}

    /// How many cookies are kept, those included that are over and have not been looked at since.
    package var count: Int { cookies.count }

    // MARK: Storing

    /// Keeps a cookie, or forgets the one that it ends.
    package mutating func store(_ cookie: Cookie, at now: WallTime) {
        uses += 1
        var cookie = cookie
        cookie.lastUsed = uses
        let index = cookies.firstIndex { $0.isSame(cookie) }
        if cookie.isExpired(at: now) {
            if let index { cookies.remove(at: index) }
        } else if let index {
            cookies[index] = cookie
        } else {
            makeRoom(for: cookie.domain, at: now)
            let next = cookies.firstIndex { $0.path.count < cookie.path.count } ?? cookies.count
            cookies.insert(cookie, at: next)
        }
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

    /// Returns the cookies for a request, which count as used, and forgets expired ones.
    package mutating func select(for origin: Origin, at now: WallTime) -> CookieSelection {
        uses += 1
        var hasExpired = false
        var selected: [Cookie] = []
        for index in cookies.indices where cookies[index].isFor(origin) {
            if cookies[index].isExpired(at: now) {
                hasExpired = true
                continue
            }
            cookies[index].lastUsed = uses
            selected.append(cookies[index])
        }
        if hasExpired { cookies.removeAll { $0.isExpired(at: now) } }
        return CookieSelection(cookies: selected)
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
