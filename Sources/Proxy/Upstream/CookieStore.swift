internal import Bytes
internal import Configuration
internal import Events
internal import HTTP
internal import Policy
internal import PublicSuffixes
internal import Time

/// The cookie jar of one upstream, between the heads of its calls.
///
/// All workers share it, because a caller's next connection may be another worker's. It lives as long as the upstream: a reload that
/// changes that empties it. Safe on any thread.
final class CookieStore: Sendable {
    private let jar = Locked(CookieJar())
    private let upstream: PoolIdentity
    private let isExposed: Bool
    private let isSecure: Bool

    /// Returns the jar of an upstream, or `nil` if the upstream's cookies are not kept.
    static func shared(in store: SharedStore, for upstream: PoolIdentity) -> CookieStore? {
        let settings = upstream.settings
        guard settings.cookies != .none else { return nil }
        return store.object(settings.name, fits: { $0.upstream == upstream }, make: { CookieStore(upstream) })
    }

    private init(_ upstream: PoolIdentity) {
        self.upstream = upstream
        isExposed = upstream.settings.cookies == .expose
        isSecure = upstream.settings.tls != nil
    }

    /// Adds the jar's cookies to a request, after the caller's cookies with other names.
    ///
    /// A caller chooses how many cookies it sends, so they are compared after the jar is unlocked.
    ///
    /// - Parameters:
    ///   - request: The head that is about to leave.
    ///   - now: The time of the request.
    ///   - line: An empty queue of the worker, for the value of the field.
    func add(to request: HTTPHead, at now: WallTime, line: ByteQueue) {
        let origin = origin(of: request)
        let selection = jar.withLock { $0.select(for: origin, at: now) }
        if let first = request.first(.cookie) { selection.append(others: request.value(at: first), to: line) }
        let own = line.count
        selection.append(to: line)
        if line.count > own { request.set(Self.cookie, line.readable) }
    }

    /// Stores the cookies that a response sets.
    ///
    /// With `jar`, removes them from the response.
    func store(from response: HTTPHead, to request: HTTPHead, at now: WallTime) {
        guard let first = response.first(.setCookie) else { return }
        let origin = origin(of: request)
        var cookies: [Cookie] = []
        var index: Int? = first
        while let field = index {
            let value = response.value(at: field)
            if let cookie = Cookie(value, from: origin, at: now, isPublicSuffix: PublicSuffixes.contains) {
                cookies.append(cookie)
            }
            index = response.first(.setCookie, from: field + 1)
        }
        jar.withLock { jar in
            for cookie in cookies { jar.store(cookie, at: now) }
        }
        if !isExposed { response.remove(Self.setCookie) }
    }

    private static let cookie = FieldName("cookie")
    private static let setCookie = FieldName("set-cookie")

    private func origin(of request: HTTPHead) -> CookieJar.Origin {
        CookieJar.Origin(
            host: Host.withoutPort(request.authority).array.map(\.lowercasedASCII),
            path: request.path.array,
            isSecure: isSecure
        )
    }
}
