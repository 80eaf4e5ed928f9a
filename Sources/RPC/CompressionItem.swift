internal import Bytes

/// An item of a list of compressions: a name, and maybe a weight (RFC 9110 §12.5.3).
///
/// The lists of Connect and gRPC have no weights, but some senders write them.
public struct CompressionItem {
    /// The range of the item in the field, without the space around it.
    public let range: Range<Int>
    /// The range of the name in the field.
    public let name: Range<Int>
    /// Whether the sender excludes the compression with a weight of zero.
    public let isExcluded: Bool

    /// Reads the next item of `field` that has a name, and moves `position` behind it.
    public init?(in field: Span<UInt8>, at position: inout Int) {
        while position < field.count {
            let start = position
            let end = field.firstIndex(of: UInt8(ascii: ","), from: start) ?? field.count
            position = end + 1
            let item = Self.trimmed(field, start..<end)
            guard !item.isEmpty else { continue }
            // Within the item alone: a search beyond it makes a long list without weights quadratic.
            let weight = field.extracting(item).firstIndex(of: UInt8(ascii: ";"))
            let nameEnd = weight.map { item.lowerBound + $0 } ?? item.upperBound
            let name = Self.trimmed(field, item.lowerBound..<nameEnd)
            guard !name.isEmpty else { continue }
            (range, self.name) = (item, name)
            isExcluded = field.extracting(nameEnd..<item.upperBound).hasZeroWeight
            return
        }
        return nil
    }

    private static func trimmed(_ field: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, field[start].isSpaceOrTab { start += 1 }
        while end > start, field[end - 1].isSpaceOrTab { end -= 1 }
        return start..<end
    }
}

extension Span<UInt8> {
    /// Whether one of the parameters, which each begin with a semicolon, is a `q` of zero.
    fileprivate var hasZeroWeight: Bool {
        var start = 0
        while start < count {
            let end = firstIndex(of: UInt8(ascii: ";"), from: start) ?? count
            let parameter = extracting(start..<end).trimmed
            start = end + 1
            guard let equals = parameter.firstIndex(of: UInt8(ascii: "=")),
                parameter.extracting(..<equals).trimmed.equalsIgnoringCase("q")
            else { continue }
            return parameter.extracting((equals + 1)...).trimmed.isZero
        }
        return false
    }

    /// Whether the number has no digit other than zero.
    private var isZero: Bool {
        for index in indices where self[index] != UInt8(ascii: "0") && self[index] != UInt8(ascii: ".") { return false }
        return !isEmpty
    }
}
