internal import Bytes

/// The bytes with which a client begins an HTTP/2 connection (RFC 9113 §3.4), by which one port can tell it from HTTP/1.1.
public enum HTTP2Preface {
    /// What the first bytes of a connection are.
    public enum Match {
        /// The preface.
        case whole
        /// What may become the preface.
        case partial
        /// Something else.
        case none
    }

    private static let text: StaticString = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

    /// Looks at the first bytes of a connection.
    public static func match(_ bytes: Span<UInt8>) -> Match {
        let expected = unsafe Span(_unsafeStart: text.utf8Start, count: text.utf8CodeUnitCount)
        let count = min(bytes.count, expected.count)
        for index in 0..<count where bytes[index] != expected[index] { return .none }
        return count == expected.count ? .whole : .partial
    }
}
