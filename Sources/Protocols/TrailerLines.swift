internal import Bytes

/// Walks over the lines of the frame that ends a gRPC-Web body: `name: value`, whatever the case of names.
///
/// The last line may lack its end, and a line may end without a carriage return. What is no such line is passed over.
public struct TrailerLines: Sendable {
    private var position = 0

    /// Makes a walker that stands before the first line.
    public init() {}

    /// Goes on to the next line of `lines`, which are the same at each call.
    ///
    /// - Returns: where its name and its value lie, without the space around them; none behind the last line.
    public mutating func next(in lines: Span<UInt8>) -> (name: Range<Int>, value: Range<Int>)? {
        while position < lines.count {
            let start = position
            let end = lines.firstIndex(of: UInt8(ascii: "\n"), from: start) ?? lines.count
            position = end + 1
            // Within the line alone: a search beyond it makes many lines without a colon quadratic.
            guard let length = lines.extracting(start..<end).firstIndex(of: UInt8(ascii: ":")) else { continue }
            let colon = start + length
            let name = Self.trimmed(lines, start..<colon)
            if !name.isEmpty { return (name, Self.trimmed(lines, colon + 1..<end)) }
        }
        return nil
    }

    private static func trimmed(_ lines: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        if end > start, lines[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        while start < end, lines[start].isSpaceOrTab { start += 1 }
        while end > start, lines[end - 1].isSpaceOrTab { end -= 1 }
        return start..<end
    }

    /// All lines that may become fields: names with small letters, and values without line breaks.
    public static func fields(of lines: Span<UInt8>) -> [(name: [UInt8], value: [UInt8])] {
        var walker = TrailerLines()
        var fields: [(name: [UInt8], value: [UInt8])] = []
        while let (name, value) = walker.next(in: lines) {
            guard lines.extracting(name).firstControl == nil, !hasControl(lines.extracting(value)) else { continue }
            fields.append((lines.extracting(name).array.map(\.lowercasedASCII), lines.extracting(value).array))
        }
        return fields
    }

    /// Whether there is a control byte other than a tab.
    private static func hasControl(_ value: Span<UInt8>) -> Bool {
        var start = 0
        while let index = value.extracting(start...).firstControl {
            guard value[start + index] == UInt8(ascii: "\t") else { return true }
            start += index + 1
        }
        return false
    }
}
