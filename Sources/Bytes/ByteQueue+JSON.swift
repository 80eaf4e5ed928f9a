extension ByteQueue {
    /// Appends `text` as a JSON string (RFC 8259 §7), quotes and escapes included.
    ///
    /// Bytes that are not UTF-8 become U+FFFD, so the result is always valid JSON.
    public func append(json text: Span<UInt8>) {
        append(byte: UInt8(ascii: "\""))
        var plain = 0
        for index in 0..<text.count {
            let byte = text[index]
            if byte >= 0x80 { return appendRepaired(text, from: plain) }
            guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
            append(text.extracting(plain..<index))
            appendEscape(byte)
            plain = index + 1
        }
        append(text.extracting(plain..<text.count))
        append(byte: UInt8(ascii: "\""))
    }

    /// Appends `text` as a JSON string; not for the path of a call.
    public func append(json text: String) {
        append(json: Array(text.utf8).span)
    }

    /// Appends the rest of a string that is not plain ASCII, from `start` on, and the closing quote.
    private func appendRepaired(_ text: Span<UInt8>, from start: Int) {
        for byte in text.extracting(start..<text.count).string.utf8 {
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                appendEscape(byte)
            } else {
                append(byte: byte)
            }
        }
        append(byte: UInt8(ascii: "\""))
    }

    private func appendEscape(_ byte: UInt8) {
        append(byte: UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\n"): append(byte: UInt8(ascii: "n"))
        case UInt8(ascii: "\r"): append(byte: UInt8(ascii: "r"))
        case UInt8(ascii: "\t"): append(byte: UInt8(ascii: "t"))
        case 0..<0x20:
            append(byte < 0x10 ? "u000" : "u00")
            append(hexadecimal: Int(byte))
        default: append(byte: byte)
        }
    }
}
