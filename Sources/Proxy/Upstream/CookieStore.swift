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
    private struct State {
        var jar = CookieJar(isPublicSuffix: PublicSuffixes.contains)
        let line = ByteQueue(keeping: 256)
    }

    private let state = Locked(State())
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

    /// Gives a request its cookies, behind those of the caller that have other names.
    func add(to request: HTTPHead, at now: WallTime) {
        let origin = origin(of: request)
        state.withLock { state in
            let line = state.line
            if let first = request.first(.cookie) {
                state.jar.append(others: request.value(at: first), to: line, for: origin, at: now)
            }
            let own = line.count
            state.jar.append(to: line, for: origin, at: now)
            if line.count > own { request.set(Self.cookie, line.readable) }
            line.removeAll()
        }
    }

    /// Takes the cookies that the response to a request sets, which callers do not see unless they are to.
    func store(from response: HTTPHead, to request: HTTPHead, at now: WallTime) {
        guard var index = response.first(.setCookie) else { return }
        let origin = origin(of: request)
        state.withLock { state in
            while true {
                state.jar.store(response.value(at: index), from: origin, at: now)
                guard let next = response.first(.setCookie, from: index + 1) else { break }
                index = next
            }
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
