internal import Bytes

/// What to put in the place of a match: text in which `$1` or `${1}` is a group, `$0` the match, and `$$` a dollar sign.
public struct Replacement: Sendable {
    private enum Part {
        case text([UInt8])
        case group(Int)
    }

    private var parts: [Part] = []

    /// Reads `text`, whose groups must be groups of `pattern`.
    public init(_ text: String, for pattern: Pattern) throws(PatternError) {
        let bytes = Array(text.utf8)
        var position = 0
        while position < bytes.count {
            let dollar = bytes[position...].firstIndex(of: UInt8(ascii: "$")) ?? bytes.count
            if dollar > position { parts.append(.text(Array(bytes[position..<dollar]))) }
            guard dollar < bytes.count else { return }
            if bytes.dropFirst(dollar + 1).first == UInt8(ascii: "$") {
                parts.append(.text([UInt8(ascii: "$")]))
                position = dollar + 2
            } else {
                let (group, end) = try Self.group(in: bytes, at: dollar)
                guard group <= pattern.groupCount else {
                    throw PatternError(offset: dollar, message: "the pattern has no group \(group)")
                }
                parts.append(.group(group))
                position = end
            }
        }
    }

    /// Reads `$1` or `${1}` and tells where it ends.
    private static func group(in bytes: [UInt8], at dollar: Int) throws(PatternError) -> (Int, end: Int) {
        let rest = bytes.dropFirst(dollar + 1)
        let isBraced = rest.first == UInt8(ascii: "{")
        let digits = rest.dropFirst(isBraced ? 1 : 0).prefix { $0 &- UInt8(ascii: "0") < 10 }
        guard let group = Array(digits).span.decimal,
            !isBraced || bytes.dropFirst(digits.endIndex).first == UInt8(ascii: "}")
        else { throw PatternError(offset: dollar, message: "$ must be followed by a number, a {number} or another $") }
        return (group, digits.endIndex + (isBraced ? 1 : 0))
    }

    /// Appends the replacement of one match, whose groups `group` knows.
    func append(to queue: ByteQueue, group: (Int) -> Range<Int>, of subject: Span<UInt8>) {
        for part in parts {
            switch part {
            case .text(let bytes): queue.append(bytes)
            case .group(let number): queue.append(subject.extracting(group(number)))
            }
        }
    }
}
