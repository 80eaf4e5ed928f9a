internal import Bytes

extension HTTPHead {
    /// Brings the path into the form in which it is compared, that of `URLPath`; the query stays as it is.
    public func normalizePath() {
        guard var target = URLPath.normalized(path) else { return }
        if self.target.count > path.count { target += [UInt8(ascii: "?")] + query.array }
        setTarget(target.span)
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
