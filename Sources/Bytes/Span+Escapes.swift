extension Span<UInt8> {
    /// The byte that the escape at `index` stands for, such as `%2F`; none if there is no whole escape.
    public func escapedByte(at index: Int) -> UInt8? {
        guard self[index] == UInt8(ascii: "%"), index + 2 < count,
            let high = self[index + 1].hexadecimalValue, let low = self[index + 2].hexadecimalValue
        else { return nil }
        return high << 4 | low
    }

    /// Returns the bytes that the text stands for; an escape that is not whole stands for itself.
    public func unescaped() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        var index = 0
        while index < count {
            let byte = escapedByte(at: index)
            bytes.append(byte ?? self[index])
            index += byte == nil ? 1 : 3
        }
        return bytes
    }

    /// Whether it is `text` as a query may write it: with escapes, and with `+` for a space; the case of letters counts.
    public func stands(for text: some Collection<UInt8>) -> Bool {
        var index = 0
        for expected in text {
            guard index < count else { return false }
            let escaped = escapedByte(at: index)
            let byte = escaped ?? (self[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : self[index])
            guard byte == expected else { return false }
            index += escaped == nil ? 1 : 3
        }
        return index == count
    }
}

extension ByteQueue {
    /// Appends `text` with every byte escaped that means something in a URL, or is none of its characters.
    public func append(escaping text: Span<UInt8>) {
        for index in 0..<text.count {
            if text[index].isUnreserved { append(byte: text[index]) } else { append(escaped: text[index]) }
        }
    }

    /// Appends `byte` as an escape, such as `%2F`.
    public func append(escaped byte: UInt8) {
        append(byte: UInt8(ascii: "%"))
        append(byte: Self.digit(byte >> 4))
        append(byte: Self.digit(byte & 15))
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}

extension UInt8 {
    /// Whether the byte means the same escaped or not (RFC 3986 §2.3).
    public var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: false
        }
    }

    /// The value of the hexadecimal digit, either case; none if it is none.
    public var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): lowercasedASCII - 0x57
        default: nil
        }
    }
}
