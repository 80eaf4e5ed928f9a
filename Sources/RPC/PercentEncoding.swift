public import Bytes

/// The percent-encoding of `grpc-message` (gRPC over HTTP/2, "Responses").
public enum PercentEncoding {
    /// The bytes `text` stands for; an escape that is broken stands for itself, so this never fails.
    public static func decode(_ text: Span<UInt8>) -> [UInt8] { text.unescaped() }
}

extension ByteQueue {
    /// Appends `text` with `%` and every byte that is not printable ASCII escaped, as `grpc-message` wants it.
    ///
    /// So is a space at either end, which would not belong to the field's value (RFC 9110 §5.5).
    public func append(percentEncoding text: Span<UInt8>) {
        for index in 0..<text.count {
            let byte = text[index]
            let isOuterSpace = byte == 0x20 && (index == 0 || index == text.count - 1)
            if 0x20...0x7e ~= byte, byte != UInt8(ascii: "%"), !isOuterSpace {
                append(byte: byte)
            } else {
                append(escaped: byte)
            }
        }
    }
}
