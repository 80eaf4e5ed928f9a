public import Bytes

/// Reads JSON (RFC 8259), strictly.
public enum JSON {
    /// The maximum number of bytes that a text takes when it has been read, in multiples of its size.
    static let growth = 4
    /// The number of bytes that a text may take beyond that, so that small ones may be nested closely.
    static let slack = 16 * 1024

    /// Reads one value of any type, and nothing behind it.
    ///
    /// Numbers may have any size and any number of digits. The value takes at most four times the bytes of the text, and
    /// 16 KiB: strings, numbers and the parts of arrays and objects are made when they are asked for.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - meter: Counts the bytes that the value holds, if it stays on the thread of the meter.
    ///   - room: The maximum number of bytes that the value may hold.
    /// - Returns: The value.
    /// - Throws: An error for text that is not JSON, bytes that are not UTF-8, a name twice in an object, values nested more
    ///   than 2048 deep, and a value that would hold too much.
    public static func parse(
        _ bytes: Span<UInt8>,
        meter: MemoryMeter? = nil,
        room: Int = .max
    ) throws(JSONError) -> JSONValue {
        let index = try index(of: bytes, room)
        return JSONDocument(bytes.array, index, meter).value(at: 0)
    }

    /// Reads one value of any type, and nothing behind it.
    ///
    /// - Throws: The same errors.
    public static func parse(
        _ bytes: [UInt8],
        meter: MemoryMeter? = nil,
        room: Int = .max
    ) throws(JSONError) -> JSONValue {
        let index = try index(of: bytes.span, room)
        return JSONDocument(bytes, index, meter).value(at: 0)
    }

    /// The maximum number of bytes that the JSON of an error holds with its text.
    private static let errorRoom = 1 << 20

    /// Reads the JSON of an error, or of the end of a stream in Connect, which no meter counts.
    ///
    /// - Parameter bytes: The text.
    /// - Returns: The value, or `nil` for text that is not JSON or would hold more than 1 MiB.
    public static func error(in bytes: Span<UInt8>) -> JSONValue? { try? parse(bytes, room: errorRoom) }

    /// Returns the document of a text that Martlet has written, or `nil` if a name is there twice.
    static func document(of text: [UInt8], _ meter: MemoryMeter? = nil) -> JSONDocument? {
        var scanner = JSONScanner(text.span, maxEntries: .max)
        scanner.reserve(entryLimit(of: text.count))
        do {
            try scanner.read()
        } catch {
            return nil
        }
        return JSONDocument(text, exact(scanner.entries), meter)
    }

    /// Checks a text and finds its values.
    private static func index(of text: Span<UInt8>, _ room: Int) throws(JSONError) -> [UInt32] {
        if let end = text.firstIndex(of: 0) { throw JSONError("NUL byte", before: end + 1, of: text) }
        guard text.count <= JSONEntry.maxOffset, text.count <= room else { throw JSONError.noRoom }
        do {
            _ = try UTF8Span(validating: text)
        } catch {
            let offset = error.byteOffsets.lowerBound
            throw JSONError("unable to decode byte 0x\(String(text[offset], radix: 16))", before: offset, of: text)
        }
        let most = entryLimit(of: text.count)
        let maxEntries = min(most, (room - text.count) / MemoryLayout<UInt32>.stride)
        let limit = maxEntries < most ? JSONError.noRoom : JSONError.tooDense
        // An array that grows takes up to three times its size meanwhile. Room that is never used takes no memory.
        let isLong = text.count > slack / growth
        var scanner = JSONScanner(text, maxEntries: maxEntries)
        if isLong { scanner.reserve(maxEntries) }
        do {
            try scanner.read()
        } catch {
            throw error.isTooLarge ? limit : error
        }
        return isLong ? exact(scanner.entries) : scanner.entries
    }

    /// Returns the maximum number of entries of a text of `count` bytes.
    private static func entryLimit(of count: Int) -> Int {
        (count * (growth - 1) + slack) / MemoryLayout<UInt32>.stride
    }

    /// Returns entries without the room behind them, unless a copy beside it would take more than they may.
    private static func exact(_ entries: [UInt32]) -> [UInt32] {
        guard entries.count < entries.capacity / 2 else { return entries }
        var copy: [UInt32] = []
        copy.reserveCapacity(entries.count)
        copy += entries
        return copy
    }
}
