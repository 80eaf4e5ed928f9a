internal import Bytes

extension HTTPHead {
    /// Brings the path into the form that is forwarded, that of `URLPath`; the query stays as it is.
    public func normalizePath() {
        guard var target = URLPath.forwarded(path) else { return }
        if self.target.count > path.count { target += [UInt8(ascii: "?")] + query.array }
        setTarget(target.span)
    }

    /// Calls `body` with the normal form of the path, in which paths are compared; most paths have it already.
    public func withNormalPath<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        let path = path
        guard path.firstIndex(of: UInt8(ascii: "%")) != nil else { return body(path) }
        let normal = URLPath.normal(part: path)
        return body(normal.span)
    }

    /// Whether the bytes can be a path: a `/`, and then nothing that a target cannot have, or that would end the path.
    public static func isPath(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.count > 0, bytes[0] == UInt8(ascii: "/") else { return false }
        for index in 0..<bytes.count
        where !HTTP1Grammar.isTarget(bytes[index]) || bytes[index] == UInt8(ascii: "?") { return false }
        return true
    }

    /// Whether the bytes can be an authority: a host, and a port if there is one.
    public static func isAuthority(_ bytes: Span<UInt8>) -> Bool {
        do throws(HTTPError) {
            try HTTP1Target.checkHost(bytes)
            return true
        } catch {
            return false
        }
    }
}
