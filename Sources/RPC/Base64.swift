public import Bytes

/// The two alphabets of base64 (RFC 4648); what is read may be in either, with padding or without.
public enum Base64: Sendable {
    /// The alphabet with `+` and `/` (§4).
    case standard
    /// The alphabet with `-` and `_` (§5).
    case urlSafe

    /// The bytes `text` stands for; none if it is not base64.
    public static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        var decoder = Base64Decoder()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3 + 2)
        for index in 0..<text.count {
            if decoder.isAfterPadding { return nil }
            if let byte = decoder.next(text[index]) { bytes.append(byte) }
        }
        return decoder.canEnd ? bytes : nil
    }

    fileprivate func character(_ value: UInt32) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: value & 63)
        return switch value {
        case ..<26: UInt8(ascii: "A") + value
        case ..<52: UInt8(ascii: "a") + value - 26
        case ..<62: UInt8(ascii: "0") + value - 52
        case 62: self == .standard ? UInt8(ascii: "+") : UInt8(ascii: "-")
        default: self == .standard ? UInt8(ascii: "/") : UInt8(ascii: "_")
        }
    }
}

extension ByteQueue {
    /// Appends the base64 of `bytes`.
    public func append(base64 bytes: Span<UInt8>, _ alphabet: Base64 = .standard, padded: Bool = false) {
        var index = 0
        while index < bytes.count {
            let size = min(3, bytes.count - index)
            var group: UInt32 = 0
            for offset in 0..<3 {
                group = group << 8 | (offset < size ? UInt32(bytes[index + offset]) : 0)
            }
            for place in 0...size { append(byte: alphabet.character(group >> UInt32(18 - 6 * place))) }
            if padded { for _ in size..<3 { append(byte: UInt8(ascii: "=")) } }
            index += 3
        }
    }
}
