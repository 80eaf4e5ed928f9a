internal import Bytes
internal import HTTP

/// The path and the query of a URL that a response names, if that is of the server of its request.
struct CacheTarget {
    let bytes: [UInt8]

    /// Reads an absolute URL or a relative reference (RFC 3986 §4.2).
    ///
    /// - Parameters:
    ///   - value: the reference.
    ///   - request: the head of the request, with whose path a relative reference begins.
    ///   - host: the host that the caller has named.
    init?(_ value: Span<UInt8>, of request: HTTPHead, host: Span<UInt8>) {
        let end = value.firstIndex(of: UInt8(ascii: "#")) ?? value.count
        let url = value.extracting(0..<end)
        if url.hasPrefix("/"), !url.hasPrefix("//") {
            bytes = url.array
            return
        }
        guard url.firstIndex(of: UInt8(ascii: ":")) != nil || url.hasPrefix("//") else {
            let path = request.path.array
            bytes = path[...(path.lastIndex(of: UInt8(ascii: "/")) ?? 0)] + url.array
            return
        }
        let start = url.hasPrefix("https://") ? 8 : url.hasPrefix("http://") ? 7 : url.hasPrefix("//") ? 2 : 0
        guard start > 0 else { return nil }
        let slash = url.firstIndex(of: UInt8(ascii: "/"), from: start) ?? url.count
        let named = url.extracting(start..<slash)
        guard Host.equal(named, host) || Host.equal(named, request.authority) else { return nil }
        bytes = slash < url.count ? url.extracting(slash..<url.count).array : [UInt8(ascii: "/")]
    }
}
