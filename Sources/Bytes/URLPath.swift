/// The two forms of the path of a URL: the one that is forwarded, and the normal form, in which paths are compared.
///
/// Both are without needless escapes and dot segments (RFC 3986 §6.2.2), so that `/a/S%61y` and `/a/./Say` do not get past
/// a rule for `/a/Say`. All other escapes stay, and so do those directly behind one that is not whole, which could
/// complete it. The normal form writes the escapes that stay in capitals, and `@` without one.
public enum URLPath {
    /// Returns the form of a path that is forwarded, or `nil` if the path has this form already.
    ///
    /// The path begins with `/` and has no query.
    public static func forwarded(_ path: Span<UInt8>) -> [UInt8]? {
        guard path.firstIndex(of: UInt8(ascii: "%")) != nil || path.hasDotSegment else { return nil }
        let decoded = path.decoding { $0.isUnreserved }.bytes
        let forwarded = decoded.span.hasDotSegment ? withoutDotSegments(decoded) : decoded
        return path.equals(forwarded) ? nil : forwarded
    }

    /// Returns the normal form of a path that begins with `/` and has no query.
    public static func normal(_ path: Span<UInt8>) -> [UInt8] {
        let decoded = normal(part: path)
        return decoded.span.hasDotSegment ? withoutDotSegments(decoded) : decoded
    }

    /// Returns the normal form of a part of a path, such as a segment; dot segments stay.
    public static func normal(part: Span<UInt8>) -> [UInt8] {
        guard part.firstIndex(of: UInt8(ascii: "%")) != nil else { return part.array }
        return normalBeginning(of: part, count: .max).bytes
    }

    /// Returns the normal form of a path with a query; the query stays as it is.
    public static func normal(target: Span<UInt8>) -> [UInt8] {
        let end = target.firstIndex(of: UInt8(ascii: "?")) ?? target.count
        return normal(target.extracting(0..<end)) + target.extracting(end..<target.count).array
    }

    /// Returns the normal form of the beginning of paths with queries; its last segment may go on, as that of `/a/.` does.
    public static func normal(prefix: Span<UInt8>) -> [UInt8] {
        guard prefix.firstIndex(of: UInt8(ascii: "?")) == nil, let slash = prefix.array.lastIndex(of: UInt8(ascii: "/"))
        else { return normal(target: prefix) }
        return normal(prefix.extracting(0..<slash + 1)) + normal(part: prefix.extracting(slash + 1..<prefix.count))
    }

    /// Returns the normal form of the beginning of a path, and the number of bytes of the path that it stands for.
    ///
    /// The form has `count` bytes, or up to two more, as an escape is not divided.
    public static func normalBeginning(of path: Span<UInt8>, count: Int) -> (bytes: [UInt8], end: Int) {
        // "@" means nothing in a path. ":" ends a resource before its verb, ";" begins parameters, and "+" is a space to some.
        path.decoding(upTo: count, uppercases: true) { $0.isUnreserved || $0 == UInt8(ascii: "@") }
    }

    /// The path without the segments `.` and `..` (RFC 3986 §5.2.4); it begins with `/` and has no query.
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

extension ByteQueue {
    /// Appends a path in its normal form; no segment of it is `.` or `..`.
    public func append(normalPath path: Span<UInt8>) {
        guard path.firstIndex(of: UInt8(ascii: "%")) != nil else { return append(path) }
        append(URLPath.normal(part: path))
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

    /// Returns the beginning of the path without needless escapes, and where it ends; no escape arises that was none, such
    /// as `%2e` of `%%32e`.
    fileprivate func decoding(
        upTo limit: Int = .max,
        uppercases: Bool = false,
        where isNeedless: (UInt8) -> Bool
    ) -> (bytes: [UInt8], end: Int) {
        var (decoded, index) = ([UInt8](), 0)
        while index < count, decoded.count < limit {
            guard let byte = escapedByte(at: index) else {
                decoded.append(self[index])
                index += 1
                continue
            }
            if isNeedless(byte), !decoded.hasOpenEscape {
                decoded.append(byte)
            } else {
                for place in index..<index + 3 {
                    decoded.append(uppercases ? self[place].uppercasedDigit : self[place])
                }
            }
            index += 3
        }
        return (decoded, index)
    }
}

extension UInt8 {
    /// The hexadecimal digit with a capital.
    fileprivate var uppercasedDigit: UInt8 { 0x61...0x66 ~= self ? self - 0x20 : self }
}

extension [UInt8] {
    /// Whether what follows may complete an escape.
    fileprivate var hasOpenEscape: Bool {
        last == UInt8(ascii: "%") || dropLast().last == UInt8(ascii: "%") && last?.hexadecimalValue != nil
    }
}
