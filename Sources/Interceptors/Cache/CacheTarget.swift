internal import Bytes
internal import HTTP
internal import Proxy

/// The target of a request that may change it, as it stands at the cache, and what its response names besides.
struct CacheTarget {
    /// The host that the request names.
    let host: [UInt8]
    /// The path and the query.
    let bytes: [UInt8]

    init(of call: Call) {
        let request = call.request
        (host, bytes) = (request.authority.array, request.target.array)
    }

    private var path: ArraySlice<UInt8> { bytes[..<(bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.count)] }

    /// Resolves a reference in the response (RFC 3986 §5.2.2).
    ///
    /// - Parameters:
    ///   - value: the reference.
    ///   - caller: the host that the caller has named, which the upstream may know, too.
    /// - Returns: the path and the query; nil if they are of another server.
    func resolve(_ value: Span<UInt8>, callersHost caller: Span<UInt8>) -> [UInt8]? {
        var rest = value.extracting(0..<(value.firstIndex(of: UInt8(ascii: "#")) ?? value.count))
        if let colon = rest.schemeEnd {
            let scheme = rest.extracting(0..<colon)
            guard scheme.equalsIgnoringCase("http") || scheme.equalsIgnoringCase("https") else { return nil }
            rest = rest.extracting(colon + 1..<rest.count)
            guard rest.hasPrefix("//") else { return nil }
        }
        guard rest.hasPrefix("//") else { return relative(rest) }
        rest = rest.extracting(2..<rest.count)
        let end = ["/", "?"].compactMap { rest.firstIndex(of: UInt8(ascii: $0)) }.min() ?? rest.count
        let named = rest.extracting(0..<end)
        guard Host.equal(named, caller) || Host.equal(named, host.span) else { return nil }
        let target = rest.extracting(end..<rest.count).array
        return Self.normal(target.first == UInt8(ascii: "/") ? target : [UInt8(ascii: "/")] + target)
    }

    private func relative(_ reference: Span<UInt8>) -> [UInt8] {
        guard reference.count > 0 else { return bytes }
        switch reference[0] {
        case UInt8(ascii: "/"): return Self.normal(reference.array)
        case UInt8(ascii: "?"): return path + reference.array
        default:
            let directory = path.lastIndex(of: UInt8(ascii: "/")).map { path[...$0] } ?? [UInt8(ascii: "/")]
            return Self.normal(directory + reference.array)
        }
    }

    private static func normal(_ target: [UInt8]) -> [UInt8] { URLPath.normal(target: target.span) }
}

extension Span<UInt8> {
    /// Where the colon behind a scheme is, if there is a scheme.
    fileprivate var schemeEnd: Int? {
        guard let colon = firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let before = extracting(0..<colon)
        let isPath = ["/", "?"].contains { before.firstIndex(of: UInt8(ascii: $0)) != nil }
        return isPath ? nil : colon
    }
}
