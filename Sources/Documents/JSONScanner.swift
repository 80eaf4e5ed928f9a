internal import Bytes

/// Checks a JSON text and finds its values, in one pass and without recursion.
struct JSONScanner: ~Escapable {
    static let maxDepth = 2048

    private let text: Span<UInt8>
    /// The offset of the next byte.
    private var position = 0
    private let maxEntries: Int
    /// The index of the text, as `JSONEntry` has it.
    private(set) var entries: [UInt32] = []
    /// The arrays and objects around the position, outermost first: the index of each, and the first one's bit for an object.
    private var around: [UInt32] = []
    private var names = JSONNames()

    /// Creates a scanner of a text in UTF-8.
    @_lifetime(copy text)
    init(_ text: Span<UInt8>, maxEntries: Int) {
        (self.text, self.maxEntries) = (text, maxEntries)
    }

    /// Makes room for entries.
    mutating func reserve(_ count: Int) { entries.reserveCapacity(count) }

    /// Reads the text.
    mutating func read() throws(JSONError) {
        repeat {
            let isOpen = try readValue()
            if isOpen { continue }
            try readMarks()
        } while !around.isEmpty
        guard peek() == nil else {
            skipToken()
            throw error("end of file expected")
        }
    }

    // MARK: Values

    /// Reads a scalar, or the start of an array or object.
    ///
    /// - Returns: Whether a value follows, which is the first one in an array or object.
    private mutating func readValue() throws(JSONError) -> Bool {
        guard let byte = peek() else { throw error("unexpected token near end of file") }
        switch byte {
        case UInt8(ascii: "\""): try readString()
        case UInt8(ascii: "{"): return try open(UInt8(ascii: "}"))
        case UInt8(ascii: "["): return try open(UInt8(ascii: "]"))
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            let length = JSONNumber.length(text, from: position)
            guard length > 0 else { throw invalidNumber() }
            try note()
            position += length
        case UInt8(ascii: "t"): try readWord("true")
        case UInt8(ascii: "f"): try readWord("false")
        case UInt8(ascii: "n"): try readWord("null")
        default:
            let isMark = byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") || byte == UInt8(ascii: ",")
            skipToken()
            throw error(isMark || byte == UInt8(ascii: ":") ? "unexpected token" : "invalid token")
        }
        return false
    }

    private mutating func readWord(_ word: StaticString) throws(JSONError) {
        let (start, length) = (position, word.utf8CodeUnitCount)
        skipToken()
        guard position - start == length, text.extracting(start..<position).hasPrefix(word) else {
            throw error("invalid token")
        }
        try note(at: start)
    }

    /// Opens an array or object, and reads the first name.
    ///
    /// - Returns: Whether the array or object has something in it.
    private mutating func open(_ end: UInt8) throws(JSONError) -> Bool {
        let start = position
        position += 1
        guard around.count < Self.maxDepth else { throw error("maximum parsing depth reached") }
        if peek() == end {
            try note(at: start, JSONEntry.mark)
            position += 1
            return false
        }
        let isObject = end == UInt8(ascii: "}")
        around.append(UInt32(truncatingIfNeeded: entries.count) | (isObject ? JSONEntry.mark : 0))
        try note(at: start)
        // The index behind it is not known yet.
        try note(at: 0)
        if isObject { try readName() }
        return true
    }

    /// Reads the marks behind a value, up to the next value.
    private mutating func readMarks() throws(JSONError) {
        while let last = around.last {
            let isObject = JSONEntry.isMarked(last)
            let mark = peek()
            if mark == UInt8(ascii: ",") {
                position += 1
                if isObject { try readName() }
                return
            }
            guard mark == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                skipToken()
                throw error((isObject ? "'}' expected" : "']' expected") + (mark == nil ? " near end of file" : ""))
            }
            position += 1
            around.removeLast()
            let start = JSONEntry.offset(last)
            entries[start + 1] = UInt32(truncatingIfNeeded: entries.count)
            guard isObject else { continue }
            let entries = entries
            if let second = names.second(in: text, entries.span, from: start + 2) {
                let name = entries[second]
                position = JSONText.end(of: text, from: JSONEntry.offset(name), hasEscapes: JSONEntry.isMarked(name))
                throw error("duplicate object key")
            }
        }
    }

    private mutating func readName() throws(JSONError) {
        let byte = peek()
        guard byte == UInt8(ascii: "\"") else {
            skipToken()
            throw error("string or '}' expected" + (byte == nil ? " near end of file" : ""))
        }
        let start = position
        let hasEscapes = try readString()
        if hasEscapes, JSONText.hasNUL(text.extracting(start + 1..<position - 1)) {
            throw error("NUL byte in object key not supported")
        }
        let mark = peek()
        guard mark == UInt8(ascii: ":") else {
            skipToken()
            throw error("':' expected" + (mark == nil ? " near end of file" : ""))
        }
        position += 1
    }

    /// Reads a string.
    ///
    /// - Returns: Whether it has escapes.
    @discardableResult
    private mutating func readString() throws(JSONError) -> Bool {
        let start = position
        var hasEscapes = false
        position += 1
        while true {
            position = JSONText.end(ofPlain: text, from: position)
            guard position < text.count else { throw error("premature end of input") }
            switch text[position] {
            case UInt8(ascii: "\""):
                position += 1
                try note(at: start, hasEscapes ? JSONEntry.mark : 0)
                return hasEscapes
            case UInt8(ascii: "\\"):
                hasEscapes = true
                guard JSONText.character(text, &position) != nil else { throw invalidEscape() }
            case UInt8(ascii: "\n"): throw error("unexpected newline")
            case let byte: throw error("control character 0x\(String(byte, radix: 16))")
            }
        }
    }

    // MARK: Pieces

    /// Returns the next byte that is not white space, or `nil` at the end of the text.
    private mutating func peek() -> UInt8? {
        while position < text.count {
            let byte = text[position]
            guard byte <= 0x20, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 else { return byte }
            position += 1
        }
        return nil
    }

    private mutating func note(_ mark: UInt32 = 0) throws(JSONError) { try note(at: position, mark) }

    private mutating func note(at offset: Int, _ mark: UInt32 = 0) throws(JSONError) {
        guard entries.count < maxEntries else { throw JSONError.tooDense }
        entries.append(UInt32(truncatingIfNeeded: offset) | mark)
    }

    // MARK: Errors

    private func error(_ problem: String) -> JSONError { JSONError(problem, before: position, of: text) }

    /// Passes the next token: an error reports the place behind it.
    private mutating func skipToken() {
        guard let first = peek() else { return }
        let isLetter = { (byte: UInt8) in 0x61...0x7a ~= byte | 0x20 }
        let start = position
        switch first {
        case UInt8(ascii: "\""): _ = try? readString()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): position += JSONNumber.length(text, from: start)
        default: while position < text.count, isLetter(text[position]) { position += 1 }
        }
        if position == start { position += 1 }
    }

    /// The error for an escape that is not valid, behind the first byte that escapes cannot have.
    private mutating func invalidEscape() -> JSONError {
        position += 1
        let isUnit = position < text.count && text[position] == UInt8(ascii: "u")
        var digits = 0
        while isUnit, digits < 4, position + 1 < text.count, text[position + 1].hexadecimalValue != nil {
            (position, digits) = (position + 1, digits + 1)
        }
        position = min(position + (isUnit && digits < 4 ? 2 : 1), text.count)
        return error("invalid escape")
    }

    /// The error for a number that is not valid, at the first byte that a number cannot have.
    private mutating func invalidNumber() -> JSONError {
        position += 1
        while position < text.count, text[position].isOfNumber { position += 1 }
        return error("invalid token")
    }
}
