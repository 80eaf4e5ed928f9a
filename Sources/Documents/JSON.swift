internal import Bytes
internal import CJansson

/// Reads JSON (RFC 8259), strictly.
public enum JSON {
    /// Reads one value of any type, and nothing behind it.
    ///
    /// Numbers may have any size and any number of digits.
    ///
    /// - Throws: an error for what is not JSON, bytes that are not UTF-8, a name twice in an object, and values nested more
    ///   than 2048 deep.
    public static func parse(_ bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
        // Jansson takes a NUL for the end of the text and would not look at what follows.
        if let end = bytes.firstIndex(of: 0) { throw JSONError(nulAt: end, in: bytes) }
        let scanner = JSONNumberScanner(bytes)
        var error = json_error_t()
        let flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL
        let root = unsafe scanner.text.span.withUnsafeBytes { raw in
            // Jansson takes no text at all for a null pointer, which an empty span may have.
            let start = unsafe raw.baseAddress.map { unsafe $0.assumingMemoryBound(to: CChar.self) }
            return unsafe withUnsafePointer(to: CChar(0)) { nothing in
                unsafe json_loadb(start ?? nothing, raw.count, Int(flags), &error)
            }
        }
        guard let root = unsafe root else { throw JSONError(error) }
        defer { unsafe json_decref(root) }
        var numbers = scanner.numbers[...]
        return unsafe value(root, &numbers)
    }

    /// Reads one value.
    ///
    /// - Throws: the same as for a span.
    public static func parse(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
        try parse(bytes.span)
    }

    /// Makes a value; `numbers` are those that come in it and behind it, in their order.
    private static func value(_ json: UnsafeMutablePointer<json_t>, _ numbers: inout ArraySlice<JSONNumber>)
        -> JSONValue
    {
        switch unsafe json.pointee.type {
        case JSON_TRUE: return .bool(true)
        case JSON_FALSE: return .bool(false)
        case JSON_INTEGER: return numbers.popFirst().map { .init($0) } ?? .null
        case JSON_STRING: return unsafe .string(string(json))
        case JSON_ARRAY:
            return unsafe .array((0..<json_array_size(json)).map { unsafe value(json_array_get(json, $0), &numbers) })
        case JSON_OBJECT: return unsafe .object(members(json, &numbers))
        default: return .null
        }
    }

    private static func string(_ json: UnsafeMutablePointer<json_t>) -> String {
        let length = unsafe json_string_length(json)
        return unsafe json_string_value(json).withMemoryRebound(to: UInt8.self, capacity: length) { start in
            unsafe String(decoding: UnsafeBufferPointer(start: start, count: length), as: UTF8.self)
        }
    }

    private static func members(
        _ json: UnsafeMutablePointer<json_t>,
        _ numbers: inout ArraySlice<JSONNumber>
    ) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        var iterator = unsafe json_object_iter(json)
        while let entry = unsafe iterator {
            let name = unsafe String(cString: json_object_iter_key(entry))
            unsafe members.append(JSONValue.Member(name, value(json_object_iter_value(entry), &numbers)))
            unsafe iterator = json_object_iter_next(json, entry)
        }
        return members
    }
}
