internal import Bytes

/// The escapes in strings (RFC 8259 §7).
enum JSONEscape {
    /// Reads one; `index` is at its backslash, and then behind it.
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
        case UInt8(ascii: "u"): return unit(text, &index).flatMap { scalar($0, text, &index) }
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
            let digit: UInt8
            switch text[place] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = text[place] - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = text[place] - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = text[place] - UInt8(ascii: "A") + 10
            default: return nil
            }
            value = value << 4 | UInt32(digit)
        }
        index += 6
        return value
    }

    /// A character of UTF-16, with the second half of a pair of surrogates.
    private static func scalar(_ unit: UInt32, _ text: Span<UInt8>, _ index: inout Int) -> UnicodeScalar? {
        guard 0xd800..<0xdc00 ~= unit else { return UnicodeScalar(unit) }
        guard let second = Self.unit(text, &index), 0xdc00..<0xe000 ~= second else { return nil }
        return UnicodeScalar(0x10000 + (unit - 0xd800) << 10 + (second - 0xdc00))
    }
}
