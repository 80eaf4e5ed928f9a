internal import Bytes

/// The texts of strings in JSON (RFC 8259 §7).
enum JSONText {
    /// Returns the offset of the next quote, backslash or control character, or the number of bytes if there is none.
    static func end(ofPlain text: Span<UInt8>, from start: Int) -> Int {
        var index = start
        let ones: UInt64 = 0x0101_0101_0101_0101
        unsafe text.withUnsafeBytes { bytes in
            // Eight bytes at a time: the top bit of a byte is set if it is below 0x20, or differs from a mark by nothing.
            while index + 8 <= bytes.count {
                let word = unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                let (quotes, backslashes) = (word ^ (ones &* 0x22), word ^ (ones &* 0x5c))
                let controls = (word &- ones &* 0x20) & ~word
                let marks = (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes
                guard (controls | marks) & (ones &* 0x80) == 0 else { return }
                index += 8
            }
        }
        while index < text.count {
            let byte = text[index]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
            index += 1
        }
        return index
    }

    /// Returns the offset behind a valid string, whose first quote is at `start`.
    static func end(of text: Span<UInt8>, from start: Int, hasEscapes: Bool) -> Int {
        var index = start + 1
        guard hasEscapes else { return (text.firstIndex(of: UInt8(ascii: "\""), from: index) ?? text.count) + 1 }
        while true {
            index = end(ofPlain: text, from: index)
            guard index < text.count, text[index] == UInt8(ascii: "\\") else { return index + 1 }
            index += 2
        }
    }

    /// Returns the bytes that the inside of a valid string stands for.
    static func unescaped(_ raw: Span<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(raw.count)
        var index = 0
        while index < raw.count {
            let plain = end(ofPlain: raw, from: index)
            bytes.append(copy: raw.extracting(index..<plain))
            index = plain
            guard index < raw.count, let character = character(raw, &index) else { break }
            bytes.append(contentsOf: UTF8.encode(character) ?? UTF8.encodedReplacementCharacter)
        }
        return bytes
    }

    /// Whether the inside of a valid string has an escaped NUL.
    static func hasNUL(_ raw: Span<UInt8>) -> Bool {
        var index = 0
        while index < raw.count {
            index = end(ofPlain: raw, from: index)
            if index < raw.count, character(raw, &index)?.value == 0 { return true }
        }
        return false
    }

    /// Reads an escape; `index` is at its backslash, and then behind it.
    ///
    /// - Returns: The character, or `nil` if the escape is not valid.
    static func character(_ text: Span<UInt8>, _ index: inout Int) -> UnicodeScalar? {
        guard index + 1 < text.count else { return nil }
        let plain: UInt8
        switch text[index + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): plain = text[index + 1]
        case UInt8(ascii: "b"): plain = 8
        case UInt8(ascii: "f"): plain = 12
        case UInt8(ascii: "n"): plain = 10
        case UInt8(ascii: "r"): plain = 13
        case UInt8(ascii: "t"): plain = 9
        case UInt8(ascii: "u"):
            guard let first = unit(text, &index) else { return nil }
            guard 0xd800..<0xdc00 ~= first else { return UnicodeScalar(first) }
            guard let second = unit(text, &index), 0xdc00..<0xe000 ~= second else { return nil }
            return UnicodeScalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00))
        default: return nil
        }
        index += 2
        return UnicodeScalar(plain)
    }

    /// Reads `\uXXXX`.
    private static func unit(_ text: Span<UInt8>, _ index: inout Int) -> UInt32? {
        guard index + 6 <= text.count, text[index] == UInt8(ascii: "\\"), text[index + 1] == UInt8(ascii: "u") else {
            return nil
        }
        var value: UInt32 = 0
        for place in index + 2..<index + 6 {
            guard let digit = text[place].hexadecimalValue else { return nil }
            value = value << 4 | UInt32(digit)
        }
        index += 6
        return value
    }
}
