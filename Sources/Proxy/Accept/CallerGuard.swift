internal import Bytes
internal import Configuration
internal import HTTP
internal import Telemetry

/// Whether a request is let in, by the host that it names and the web page that is behind it.
///
/// A browser lets any page send requests to any address, and what Martlet adds to them must not be at the service of a
/// page that somebody looks at. The page of another origin is known by `origin` (RFC 6454 §7), or by `sec-fetch-site`
/// where the browser sends no origin; one that was given another name for our address (DNS rebinding) by that name. A
/// preflight is a request like any other. Pure, and compiled once for a listener.
final class CallerGuard {
    /// A host that may be named.
    private struct Host {
        /// In small letters.
        let name: [UInt8]
        let isSuffix: Bool
        let port: Int?

        init(_ settings: CallerGuardSettings.Host) {
            name = Array(settings.name.utf8)
            isSuffix = settings.isSuffix
            port = settings.port.map(Int.init)
        }

        func covers(_ host: Span<UInt8>, port: Int) -> Bool {
            if let own = self.port, own != port { return false }
            guard isSuffix else { return host.equalsIgnoringCase(name.span) }
            let start = host.count - name.count
            return start > 0 && host.extracting(start..<host.count).equalsIgnoringCase(name.span)
        }
    }

    private enum Origins {
        case none, any
        case listed([[UInt8]])
        /// Where a browser could be the caller, none.
        case anyButOverTCP
    }

    private let hosts: [Host]?
    private let origins: Origins
    private let isSecure: Bool

    /// Compiles the settings of a listener; `isSecure` says that it speaks TLS.
    init(_ settings: CallerGuardSettings, isSecure: Bool) {
        hosts = settings.hosts.map { $0.map(Host.init) }
        self.isSecure = isSecure
        origins =
            switch settings.origins {
            case nil: .anyButOverTCP
            case .any: .any
            case .listed(let origins): origins.isEmpty ? .none : .listed(origins.map { Array($0.utf8) })
            }
    }

    /// Looks whether a request may come in.
    ///
    /// - Parameters:
    ///   - head: the head of the request, as the caller has sent it.
    ///   - overTCP: whether it came over TCP, where a browser can be the caller.
    /// - Returns: why it is not let in; nil if it is.
    func rejection(of head: HTTPHead, overTCP: Bool) -> RejectionLabel? {
        if hosts != nil, !servesHost(of: head) { return .host }
        // All that most requests pay.
        guard head.maySayOrigin else { return nil }
        return letsPageIn(head, overTCP: overTCP) ? nil : .origin
    }

    // MARK: The host

    private func servesHost(of head: HTTPHead) -> Bool {
        guard let hosts else { return true }
        let authority = head.authority
        guard let end = authority.endOfHost, let port = authority.port(after: end, usual: usualPort) else {
            return false
        }
        let host = authority.extracting(0..<end)
        for each in hosts where each.covers(host, port: port) { return true }
        return false
    }

    private var usualPort: Int { isSecure ? 443 : 80 }

    // MARK: The web page

    private func letsPageIn(_ head: HTTPHead, overTCP: Bool) -> Bool {
        switch origins {
        case .any: return true
        case .anyButOverTCP where !overTCP: return true
        case .none, .listed, .anyButOverTCP: break
        }
        guard var index = head.first(.origin) else { return isOfNoOtherPage(head) }
        // Whoever sends several is no browser, and all of them count.
        while true {
            guard isListed(head.value(at: index)) || isOwn(head.value(at: index), of: head) else { return false }
            guard let next = head.first(.origin, from: index + 1) else { return true }
            index = next
        }
    }

    private func isListed(_ origin: Span<UInt8>) -> Bool {
        guard case .listed(let origins) = origins else { return false }
        for each in origins where origin.equals(each) { return true }
        return false
    }

    /// Whether a page is from the host that the request names; that is known only of hosts that are listed, since any
    /// name can be made to lead here.
    private func isOwn(_ origin: Span<UInt8>, of head: HTTPHead) -> Bool {
        guard hosts != nil else { return false }
        let start = isSecure ? 8 : 7
        guard isSecure ? origin.hasPrefix("https://") : origin.hasPrefix("http://") else { return false }
        let (page, authority) = (origin.extracting(start..<origin.count), head.authority)
        guard let pageEnd = page.endOfHost, let end = authority.endOfHost,
            let pagePort = page.port(after: pageEnd, usual: usualPort),
            let port = authority.port(after: end, usual: usualPort)
        else { return false }
        return pagePort == port && page.extracting(0..<pageEnd).equalsIgnoringCase(authority.extracting(0..<end))
    }

    /// Whether a browser that says no origin says that no other page is behind the request: it is of the same origin, or
    /// of a person who has typed the address (Fetch Metadata, `Sec-Fetch-Site`).
    private func isOfNoOtherPage(_ head: HTTPHead) -> Bool {
        var next = head.first(.secFetchSite)
        while let index = next {
            let value = head.value(at: index)
            guard value.equals("none") || value.equals("same-origin") else { return false }
            next = head.first(.secFetchSite, from: index + 1)
        }
        return true
    }
}

extension Span<UInt8> {
    /// Where the host of an authority ends; nil if there is none.
    fileprivate var endOfHost: Int? {
        guard count > 0 else { return nil }
        guard self[0] == UInt8(ascii: "[") else { return firstIndex(of: UInt8(ascii: ":")) ?? count }
        return firstIndex(of: UInt8(ascii: "]")).map { $0 + 1 }
    }

    /// The port behind the host of an authority, the usual one if it says none; nil if it is not one.
    fileprivate func port(after end: Int, usual: Int) -> Int? {
        guard end < count else { return usual }
        guard self[end] == UInt8(ascii: ":") else { return nil }
        return end + 1 == count ? usual : extracting(end + 1..<count).decimal
    }

    fileprivate func equalsIgnoringCase(_ other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for index in indices where self[index].lowercasedASCII != other[index].lowercasedASCII { return false }
        return true
    }
}
