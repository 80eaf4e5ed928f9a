package import Bytes
package import Time

/// A cookie that a response has set (RFC 6265 §5.3).
package struct Cookie: Sendable {
    let name: [UInt8]
    let value: [UInt8]
    let domain: [UInt8]
    let isHostOnly: Bool
    let path: [UInt8]
    let isSecure: Bool
    /// The time at which the cookie ends; a cookie without it lives as long as its jar.
    let expires: WallTime?
    /// The number of the jar's use at which the cookie was last set or sent.
    var lastUsed = 0

    /// Reads the value of a `Set-Cookie` field, or returns `nil` if the cookie is not to be kept.
    ///
    /// - Parameters:
    ///   - field: The value of the field.
    ///   - origin: The origin of the response.
    ///   - now: The time of the response.
    ///   - isPublicSuffix: Returns whether strangers may register names below a domain in small letters; no cookie is for all
    ///     of them.
    package init?(
        _ field: Span<UInt8>,
        from origin: CookieJar.Origin,
        at now: WallTime,
        isPublicSuffix: ([UInt8]) -> Bool
    ) {
        guard field.count <= CookieJar.maxLength, let set = SetCookie(field) else { return nil }
        let expected = set.domain ?? []
        if !expected.isEmpty, !isPublicSuffix(expected) {
            guard CookieJar.matches(origin.host, domain: expected) else { return nil }
            (domain, isHostOnly) = (expected, false)
        } else {
            // A public suffix may be a host itself.
            guard expected.isEmpty || expected == origin.host else { return nil }
            (domain, isHostOnly) = (origin.host, true)
        }
        (name, value, isSecure) = (set.name, set.value, set.isSecure)
        path = set.path ?? CookieJar.defaultPath(of: origin.path)
        expires = if let age = set.maxAge { now.adding(saturating: age) } else { set.expires?.time }
    }

    func isExpired(at now: WallTime) -> Bool { expires.map { $0 <= now } ?? false }

    func isSame(_ other: Cookie) -> Bool { name == other.name && domain == other.domain && path == other.path }

    func isFor(_ origin: CookieJar.Origin) -> Bool {
        (isHostOnly ? domain == origin.host : CookieJar.matches(origin.host, domain: domain))
            && CookieJar.matches(origin.path, path: path) && (!isSecure || origin.isSecure)
    }
}

/// The cookies of a jar that are for one request, in the order in which they are sent.
package struct CookieSelection {
    let cookies: [Cookie]

    /// Appends the cookies that a caller has sent, without those whose names the selection has.
    ///
    /// A caller that sees the jar's cookies returns them, perhaps in an older version.
    package func append(others sent: Span<UInt8>, to queue: ByteQueue) {
        let names = Set(cookies.map(\.name))
        var start = 0
        var isFirst = true
        while start < sent.count {
            let end = sent.firstIndex(of: UInt8(ascii: ";"), from: start) ?? sent.count
            let pair = sent.extracting(start..<end).trimmed
            start = end + 1
            let name = pair.extracting(0..<(pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.count)).trimmed
            guard pair.count > 0, names.isEmpty || !names.contains(name.array) else { continue }
            if !isFirst { queue.append("; ") }
            isFirst = false
            queue.append(pair)
        }
    }

    /// Appends the cookies, `a=1; b=2`, after `; ` if the queue is not empty; nothing if there are none.
    ///
    /// A cookie that does not fit is left out: many servers reject large heads.
    package func append(to queue: ByteQueue) {
        for cookie in cookies where queue.count + cookie.name.count + cookie.value.count < CookieJar.maxBytesSent {
            if queue.count > 0 { queue.append("; ") }
            queue.append(cookie.name.span, "=", cookie.value.span, "")
        }
    }
}
