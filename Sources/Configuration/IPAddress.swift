/// An IP address written as a literal.
public enum IPAddress: Equatable, Sendable {
    /// Four bytes, most significant first.
    case v4([UInt8])
    /// Sixteen bytes, most significant first.
    case v6([UInt8])

    /// Reads `127.0.0.1`, or an IPv6 address (RFC 4291 §2.2) without brackets and zone.
    ///
    /// Dotted decimal is taken strictly: four numbers without leading zeros.
    public init?(_ text: String) {
        if let bytes = Self.dotted(text[...]) {
            self = .v4(bytes)
        } else if let bytes = Self.colons(text) {
            self = .v6(bytes)
        } else {
            return nil
        }
    }

    /// Whether the address names the machine itself.
    public var isLoopback: Bool {
        switch self {
        case .v4(let bytes): bytes[0] == 127
        case .v6(let bytes):
            bytes == Self.loopback || (bytes.prefix(12) == Self.mapped && bytes[12] == 127)
        }
    }

    private static let loopback = [UInt8](repeating: 0, count: 15) + [1]
    private static let mapped = ([UInt8](repeating: 0, count: 10) + [0xff, 0xff])[...]

    private static func dotted(_ text: Substring) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let bytes = parts.compactMap { part in
            part.allSatisfy(\.isASCIIDigit) && (part == "0" || !part.hasPrefix("0")) ? UInt8(part) : nil
        }
        return parts.count == 4 && bytes.count == 4 ? bytes : nil
    }

    private static func colons(_ text: String) -> [UInt8]? {
        guard let gap = gap(in: text) else {
            return groups(text[...]).flatMap { $0.count == 16 ? $0 : nil }
        }
        guard let head = groups(text[..<gap], mayEndDotted: false),
            let tail = groups(text[text.index(gap, offsetBy: 2)...]),
            head.count + tail.count <= 14
        else { return nil }
        return head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
    }

    /// Where the first `::` starts.
    private static func gap(in text: String) -> String.Index? {
        text.indices.first { text[$0...].hasPrefix("::") }
    }

    /// The bytes of groups between colons; the last group of an address may be dotted decimal.
    private static func groups(_ text: Substring, mayEndDotted: Bool = true) -> [UInt8]? {
        guard !text.isEmpty else { return [] }
        var bytes: [UInt8] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if mayEndDotted, index == parts.count - 1, let dotted = dotted(part) {
                bytes += dotted
            } else if 1...4 ~= part.utf8.count, part.allSatisfy(\.isHexDigit), let group = UInt16(part, radix: 16) {
                bytes += [UInt8(group >> 8), UInt8(group & 0xff)]
            } else {
                return nil
            }
        }
        return bytes
    }
}

extension Character {
    var isASCIIDigit: Bool { asciiValue.map { 0x30...0x39 ~= $0 } ?? false }
}
