internal import Bytes

/// A valid JSON text and the index of its values.
///
/// A document that counts for a meter stays on the thread of the meter.
final class JSONDocument: @unchecked Sendable {
    /// The number of bytes that count beside those of the text and the index.
    private static let overhead = 128

    private let text: [UInt8]
    private let entries: [UInt32]
    let meter: MemoryMeter?

    init(_ text: [UInt8], _ entries: [UInt32], _ meter: MemoryMeter?) {
        (self.text, self.entries, self.meter) = (text, entries, meter)
        meter?.add(heldBytes)
    }

    deinit { meter?.add(-heldBytes) }

    /// The number of bytes that the document holds.
    var heldBytes: Int { text.count + entries.capacity * MemoryLayout<UInt32>.stride + Self.overhead }

    /// Returns the same document, counted by a meter.
    func counted(by meter: MemoryMeter) -> JSONDocument { JSONDocument(text, entries, meter) }

    // MARK: Values

    /// Returns the value at an index.
    func value(at index: Int) -> JSONValue {
        let entry = entries[index]
        let offset = JSONEntry.offset(entry)
        switch text[offset] {
        case UInt8(ascii: "["): return .array(JSONItems(self, index))
        case UInt8(ascii: "{"): return .object(JSONMembers(self, index))
        case UInt8(ascii: "\""): return .string(string(at: index))
        case UInt8(ascii: "t"): return .bool(true)
        case UInt8(ascii: "f"): return .bool(false)
        case UInt8(ascii: "n"): return .null
        default:
            let text = text
            return JSONValue(number: text.span.extracting(offset..<end(ofScalar: index)))
        }
    }

    /// Returns the text of the string or name at an index.
    func string(at index: Int) -> String {
        let (text, entry) = (text, entries[index])
        let raw = Self.rawString(text.span, entry)
        return JSONEntry.isMarked(entry) ? String(decoding: JSONText.unescaped(raw), as: UTF8.self) : raw.string
    }

    /// Whether the name at an index is `name`.
    func isName(_ name: String, at index: Int) -> Bool {
        let utf8 = name.utf8
        return isName(utf8.span, at: index)
    }

    private func isName(_ name: Span<UInt8>, at index: Int) -> Bool {
        let (text, entry) = (text, entries[index])
        let raw = Self.rawString(text.span, entry)
        guard JSONEntry.isMarked(entry) else { return raw.equals(name) }
        let plain = JSONText.unescaped(raw)
        return plain.span.equals(name)
    }

    // MARK: Parts

    /// Returns the index of the first part of the array or object at an index, and the index behind its last one.
    func parts(of index: Int) -> Range<Int> {
        JSONEntry.isMarked(entries[index]) ? index + 1..<index + 1 : index + 2..<Int(entries[index + 1])
    }

    /// Returns the index behind the value at an index.
    func next(after index: Int) -> Int {
        let text = text
        let entries = entries
        return Self.next(text.span, entries.span, after: index)
    }

    /// Returns the index behind the value at an index.
    static func next(_ text: Span<UInt8>, _ entries: Span<UInt32>, after index: Int) -> Int {
        let entry = entries[index]
        let first = text[JSONEntry.offset(entry)]
        let isContainer = first == UInt8(ascii: "[") || first == UInt8(ascii: "{")
        return isContainer && !JSONEntry.isMarked(entry) ? Int(entries[index + 1]) : index + 1
    }

    /// Returns the inside of a string or name.
    @_lifetime(copy text)
    static func rawString(_ text: Span<UInt8>, _ entry: UInt32) -> Span<UInt8> {
        let start = JSONEntry.offset(entry)
        let end = JSONText.end(of: text, from: start, hasEscapes: JSONEntry.isMarked(entry))
        return text.extracting(start + 1..<end - 1)
    }

    /// Returns the offset behind a scalar, a name, or an empty array or object.
    private func end(ofScalar index: Int) -> Int {
        let (text, entry) = (text, entries[index])
        let start = JSONEntry.offset(entry)
        switch text[start] {
        case UInt8(ascii: "\""): return JSONText.end(of: text.span, from: start, hasEscapes: JSONEntry.isMarked(entry))
        case UInt8(ascii: "["), UInt8(ascii: "{"): return endOfMark(from: start + 1)
        default:
            var end = start + 1
            while end < text.count, text[end].isOfNumber || 0x61...0x7a ~= text[end] { end += 1 }
            return end
        }
    }

    /// Returns the offset behind the next mark.
    private func endOfMark(from start: Int) -> Int {
        var index = start
        while text[index] <= 0x20 { index += 1 }
        return index + 1
    }

    /// Appends the value at an index as compact JSON.
    func append(_ index: Int, to queue: ByteQueue) {
        let (text, entry) = (text, entries[index])
        let offset = JSONEntry.offset(entry)
        switch text[offset] {
        case UInt8(ascii: "["):
            queue.append("[")
            var (part, end) = (parts(of: index).lowerBound, parts(of: index).upperBound)
            while part < end {
                append(part, to: queue)
                part = next(after: part)
                if part < end { queue.append(",") }
            }
            queue.append("]")
        case UInt8(ascii: "{"):
            queue.append("{")
            var (part, end) = (parts(of: index).lowerBound, parts(of: index).upperBound)
            while part < end {
                append(part, to: queue)
                queue.append(":")
                append(part + 1, to: queue)
                part = next(after: part + 1)
                if part < end { queue.append(",") }
            }
            queue.append("}")
        case UInt8(ascii: "\"") where JSONEntry.isMarked(entry):
            let plain = JSONText.unescaped(Self.rawString(text.span, entry))
            queue.append(json: plain.span)
        default:
            let raw = text.span.extracting(offset..<end(ofScalar: index))
            if raw.equals("-0") { queue.append("0") } else { queue.append(raw) }
        }
    }
}
