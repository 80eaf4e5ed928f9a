/// The path of a URL in the form in which paths are compared (RFC 3986 §6.2.2.2 and §6.2.2.3).
///
/// Escapes of bytes that need none are undone and dot segments are taken out, so that `/a/S%61y` and `/a/./Say` do not get
/// past a rule for `/a/Say`. All other escapes stay as they are, and so do those directly behind one that is not whole,
/// which could complete it.
public enum URLPath {
    /// The form of `path`, which begins with `/` and has no query; none if it is in this form already.
    public static func normalized(_ path: Span<UInt8>) -> [UInt8]? {
        guard path.firstIndex(of: UInt8(ascii: "%")) != nil || path.hasDotSegment else { return nil }
        let decoded = path.decodingUnreserved()
        let normal = decoded.span.hasDotSegment ? withoutDotSegments(decoded) : decoded
        return path.equals(normal) ? nil : normal
    }

    /// The path without the segments `.` and `..` (RFC 3986 §5.2.4); it begins with `/` and has no query.
    public static func withoutDotSegments(_ path: [UInt8]) -> [UInt8] {
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
        var slash = firstIndex(of: UInt8(ascii: "/"))
        while let start = slash.map({ $0 + 1 }) {
            slash = firstIndex(of: UInt8(ascii: "/"), from: start)
            if start < count, self[start] == UInt8(ascii: "."), extracting(start..<(slash ?? count)).isDots > 0 {
                return true
            }
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
