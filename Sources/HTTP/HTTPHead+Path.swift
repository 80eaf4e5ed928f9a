internal import Bytes

extension HTTPHead {
    /// Brings the path into the form in which it is compared (RFC 3986 §6.2.2.2 and §6.2.2.3).
    ///
    /// Escapes of bytes that need none are undone and dot segments are taken out, so that `/a/S%61y` and `/a/./Say` do
    /// not get past a rule for `/a/Say`. The query stays as it is, and so do all other escapes, and those directly behind
    /// one that is not whole, which could complete it.
    public func normalizePath() {
        let path = path
        guard path.firstIndex(of: UInt8(ascii: "%")) != nil || path.hasDotSegment else { return }
        let decoded = path.decodingUnreserved()
        var normal = decoded.span.hasDotSegment ? Self.withoutDotSegments(decoded) : decoded
        guard !path.equals(normal) else { return }
        if target.count > path.count { normal += [UInt8(ascii: "?")] + query.array }
        setTarget(normal.span)
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
        do throws(HTTPFault) {
            try HTTP1Target.checkHost(bytes)
            return true
        } catch {
            return false
        }
    }

    private static func withoutDotSegments(_ path: [UInt8]) -> [UInt8] {
        var kept: [ArraySlice<UInt8>] = []
        let segments = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment.span.isDots {
            case 1: if isLast { kept.append([]) }
            case 2:
                _ = kept.popLast()
                if isLast { kept.append([]) }
            default: kept.append(segment)
            }
        }
        return [UInt8(ascii: "/")] + kept.joined(separator: [UInt8(ascii: "/")])
    }
}

extension Span<UInt8> {
    /// Whether a segment of the path is `.` or `..`.
    fileprivate var hasDotSegment: Bool {
        var start = 0
        while start < count {
            let end = firstIndex(of: UInt8(ascii: "/"), from: start) ?? count
            if extracting(start..<end).isDots > 0 { return true }
            start = end + 1
        }
        return false
    }

    /// 1 for `.`, 2 for `..`, else 0.
    fileprivate var isDots: Int {
        equals(".") ? 1 : equals("..") ? 2 : 0
    }

    /// The path without escapes that it does not need; no escape arises that was none, such as `%2e` of `%%32e`.
    fileprivate func decodingUnreserved() -> [UInt8] {
        var decoded: [UInt8] = []
        var index = 0
        while index < count {
            if let byte = escapedByte(at: index), byte.isUnreserved, !decoded.hasOpenEscape {
                decoded.append(byte)
                index += 3
            } else {
                decoded.append(self[index])
                index += 1
            }
        }
        return decoded
    }
}

extension [UInt8] {
    /// Whether what follows may complete an escape.
    fileprivate var hasOpenEscape: Bool {
        last == UInt8(ascii: "%") || dropLast().last == UInt8(ascii: "%") && last?.hexadecimalValue != nil
    }
}
