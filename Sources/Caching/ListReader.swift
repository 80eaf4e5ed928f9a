internal import Bytes

/// Finds the elements of a comma-separated list (RFC 9110 §5.6.1); commas within quotes are none.
struct ListReader {
    private var position = 0

    /// Where the next element lies, without the blanks around it; empty ones are left out.
    mutating func next(_ value: Span<UInt8>) -> Range<Int>? {
        while position < value.count {
            let start = position
            let end = end(value)
            position = end + 1
            let range = Self.trim(start..<end, value)
            if !range.isEmpty { return range }
        }
        return nil
    }

    /// Where the element ends that begins at the position.
    private func end(_ value: Span<UInt8>) -> Int {
        var (index, isQuoted) = (position, false)
        while index < value.count {
            switch value[index] {
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: "\\") where isQuoted: index += 1
            case UInt8(ascii: ",") where !isQuoted: return index
            default: break
            }
            index += 1
        }
        return value.count
    }

    private static func trim(_ range: Range<Int>, _ value: Span<UInt8>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, isBlank(value[start]) { start += 1 }
        while start < end, isBlank(value[end - 1]) { end -= 1 }
        return start..<end
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
