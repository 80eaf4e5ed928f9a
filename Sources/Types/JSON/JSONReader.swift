internal import Bytes

/// Reads JSON (RFC 8259) piece by piece, strictly.
struct JSONReader: ~Escapable {
    private let text: Span<UInt8>
    /// Where the next piece begins, or white space before it.
    var position = 0
    private let arena: MessageArena

    /// Reads a text that stays where it is as long as what is read of it is used.
    @_lifetime(copy text)
    init(_ text: Span<UInt8>, _ arena: MessageArena) throws(MessageError) {
        self.text = text
        self.arena = arena
        do {
            _ = try UTF8Span(validating: text)
        } catch {
            throw MessageError("the text is not UTF-8")
        }
    }

    /// How many bytes the text has.
    var count: Int { text.count }

    /// The first byte of what comes next.
    mutating func peek() throws(MessageError) -> UInt8 {
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): position += 1
            default: return text[position]
            }
        }
        throw MessageError("the JSON ends too early")
    }

    /// Checks that nothing follows.
    mutating func finish() throws(MessageError) {
        do {
            _ = try peek()
        } catch {
            return
        }
        throw unexpected()
    }

    /// Reads a punctuation mark if it comes next.
    mutating func read(_ mark: UInt8) throws(MessageError) -> Bool {
        guard try peek() == mark else { return false }
        position += 1
        return true
    }

    /// Reads a punctuation mark.
    mutating func expect(_ mark: UInt8) throws(MessageError) {
        guard try read(mark) else { throw unexpected() }
    }

    /// Reads the bracket or brace that opens a list or an object, which is what `form` calls it.
    mutating func open(_ mark: UInt8, _ form: StaticString) throws(MessageError) {
        guard try !read(mark) else { return }
        switch text[position] {
        case UInt8(ascii: "\""), UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: "-"), 0x30...0x39,
            UInt8(ascii: "t"), UInt8(ascii: "f"):
            throw MessageError("not \(form)")
        default: throw unexpected()
        }
    }

    /// Reads the comma between two members or elements, or the mark behind the last.
    ///
    /// - Returns: whether another one follows.
    mutating func hasMore(before end: UInt8, isFirst: Bool) throws(MessageError) -> Bool {
        if try read(end) { return false }
        if isFirst { return true }
        try expect(UInt8(ascii: ","))
        guard try peek() != end else { throw unexpected() }
        return true
    }

    /// Reads the name of a member and the colon behind it.
    mutating func name() throws(MessageError) -> Text {
        guard try peek() == UInt8(ascii: "\"") else { throw unexpected() }
        let name = try string()
        try expect(UInt8(ascii: ":"))
        return name
    }

    /// Reads `true`, `false` or `null` if it comes next.
    mutating func read(word: StaticString) throws(MessageError) -> Bool {
        _ = try peek()
        guard text.extracting(position...).hasPrefix(word) else { return false }
        let end = position + word.utf8CodeUnitCount
        if end < text.count, Self.isOfWord(text[end]) { return false }
        position = end
        return true
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        switch byte | 0x20 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: byte == UInt8(ascii: "_")
        }
    }

    /// Reads a string; without escapes it is where it was.
    mutating func string() throws(MessageError) -> Text {
        try expect(UInt8(ascii: "\""))
        let start = position
        var hasEscapes = false
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: "\""):
                position += 1
                let raw = text.extracting(start..<position - 1)
                return hasEscapes ? try unescaped(raw, from: start) : Text(staying: raw)
            case UInt8(ascii: "\\"):
                hasEscapes = true
                position += 2
            case 0..<0x20: throw MessageError("a control character stands in a string at byte \(position)")
            default: position += 1
            }
        }
        position = text.count
        throw MessageError("the JSON ends too early")
    }

    private func unescaped(_ raw: Span<UInt8>, from start: Int) throws(MessageError) -> Text {
        let bytes = ByteQueue()
        var index = 0
        while index < raw.count {
            guard raw[index] == UInt8(ascii: "\\") else {
                bytes.append(byte: raw[index])
                index += 1
                continue
            }
            guard let character = JSONEscape.character(raw, &index) else {
                throw MessageError("a string has an invalid escape at byte \(start + index)")
            }
            bytes.append(text: String(character))
        }
        return try arena.copy(bytes.readable)
    }

    /// Reads a number, and checks nothing but its form.
    mutating func number() throws(MessageError) -> Text {
        _ = try peek()
        let length = JSONNumberText.length(text.extracting(position...))
        guard length > 0 else { throw unexpected() }
        defer { position += length }
        return Text(staying: text.extracting(position..<position + length))
    }

    /// Reads a value of any kind, and keeps nothing of it.
    mutating func skip(_ depth: Int = 1) throws(MessageError) {
        guard depth <= MessageError.maxDepth else { throw .depth }
        switch try peek() {
        case UInt8(ascii: "\""): _ = try string()
        case UInt8(ascii: "{"):
            position += 1
            var isFirst = true
            while try hasMore(before: UInt8(ascii: "}"), isFirst: isFirst) {
                _ = try name()
                try skip(depth + 1)
                isFirst = false
            }
        case UInt8(ascii: "["):
            position += 1
            var isFirst = true
            while try hasMore(before: UInt8(ascii: "]"), isFirst: isFirst) {
                try skip(depth + 1)
                isFirst = false
            }
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): _ = try number()
        default:
            for word: StaticString in ["true", "false", "null"] where try read(word: word) { return }
            throw unexpected()
        }
    }

    /// The error for what stands here.
    func unexpected() -> MessageError {
        guard position < text.count else { return MessageError("the JSON ends too early") }
        let byte = text[position]
        let shown = 0x21..<0x7f ~= byte ? "\"\(Character(UnicodeScalar(byte)))\"" : "a byte"
        return MessageError("not valid JSON: unexpected \(shown) at byte \(position)")
    }
}
