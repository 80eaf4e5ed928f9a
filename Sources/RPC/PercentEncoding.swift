public import Bytes

/// The percent-encoding of `grpc-message` (gRPC over HTTP/2, "Responses").
public enum PercentEncoding {
    /// The bytes `text` stands for; an escape that is broken stands for itself, so this never fails.
    public static func decode(_ text: Span<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            if let byte = escape(in: text, at: index) {
                bytes.append(byte)
                index += 3
            } else {
                bytes.append(text[index])
                index += 1
            }
        }
        return bytes
    }

    private static func escape(in text: Span<UInt8>, at index: Int) -> UInt8? {
        guard text[index] == UInt8(ascii: "%"), index + 2 < text.count,
            let high = hexadecimal(text[index + 1]), let low = hexadecimal(text[index + 2])
        else { return nil }
        return high << 4 | low
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension ByteQueue {
    /// Appends `text` with `%` and every byte that is not printable ASCII escaped, as `grpc-message` wants it.
    public func append(percentEncoding text: Span<UInt8>) {
        for index in 0..<text.count {
            let byte = text[index]
            if 0x20...0x7e ~= byte, byte != UInt8(ascii: "%") {
                append(byte: byte)
            } else {
                append(byte: UInt8(ascii: "%"))
                append(byte: Self.digit(byte >> 4))
                append(byte: Self.digit(byte & 15))
            }
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}
