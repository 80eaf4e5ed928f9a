internal import Bytes
internal import Configuration
internal import HTTP
internal import Policy
internal import PublicSuffixes
internal import Time

/// The cookie jar of one upstream and one worker, between the heads of its calls.
///
/// Belongs to its worker's thread. It lives as long as the upstream: a reload that changes that empties it.
final class CookieStore {
    private var jar = CookieJar(isPublicSuffix: PublicSuffixes.contains)
    private let isExposed: Bool
    private let isSecure: Bool
    private let line = ByteQueue(keeping: 256)
    private static let cookie = FieldName("cookie")
    private static let setCookie = FieldName("set-cookie")

    /// Makes an empty jar; none where cookies are not kept.
    init?(_ settings: UpstreamSettings) {
        guard settings.cookies != .none else { return nil }
        isExposed = settings.cookies == .expose
        isSecure = settings.tls != nil
    }

    /// Gives a request its cookies, behind those of the caller that have other names.
    func add(to request: HTTPHead, at now: WallTime) {
        let line = line
        let origin = origin(of: request)
        if let first = request.first(.cookie) {
            jar.append(others: request.value(at: first), to: line, for: origin, at: now)
        }
        let own = line.count
        jar.append(to: line, for: origin, at: now)
        if line.count > own { request.set(Self.cookie, line.readable) }
        line.removeAll()
    }

    /// Takes the cookies that the response to a request sets, which callers do not see unless they are to.
    func store(from response: HTTPHead, to request: HTTPHead, at now: WallTime) {
        guard var index = response.first(.setCookie) else { return }
        let origin = origin(of: request)
        while true {
            jar.store(response.value(at: index), from: origin, at: now)
            guard let next = response.first(.setCookie, from: index + 1) else { break }
            index = next
        }
        if !isExposed { response.remove(Self.setCookie) }
    }

    private func origin(of request: HTTPHead) -> CookieJar.Origin {
        CookieJar.Origin(
            host: Host.withoutPort(request.authority).array.map(\.lowercasedASCII),
            path: request.path.array,
            isSecure: isSecure
        )
    }
}
