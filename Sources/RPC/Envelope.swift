public import Bytes

/// The five bytes before each message of a stream: flags and the length of the payload.
public struct Envelope: Equatable, Sendable {
    /// The number of bytes an envelope has on the wire.
    public static let size = 5
    /// The flag of a compressed payload, in all protocols.
    public static let compressed: UInt8 = 0x01
    /// The flag of the JSON that ends a Connect stream.
    public static let endStream: UInt8 = 0x02
    /// The flag of the trailers that end a gRPC-Web stream.
    public static let trailers: UInt8 = 0x80

    /// What the payload is; the protocol gives the bits their meaning.
    public var flags: UInt8
    /// The size of the payload in bytes.
    public var length: UInt32

    /// Describes a payload.
    public init(flags: UInt8, length: UInt32) {
        self.flags = flags
        self.length = length
    }

    /// Reads the first five of `bytes`; none if there are fewer.
    public init?(_ bytes: Span<UInt8>) {
        guard bytes.count >= Self.size else { return nil }
        flags = bytes[0]
        length = 0
        for index in 1..<Self.size { length = length << 8 | UInt32(bytes[index]) }
    }
}

extension ByteQueue {
    /// Appends the five bytes of `envelope`.
    public func append(_ envelope: Envelope) {
        append(byte: envelope.flags)
        for place in 1...4 { append(byte: UInt8(truncatingIfNeeded: envelope.length >> UInt32(32 - 8 * place))) }
    }

    /// Appends `payload` in an envelope.
    ///
    /// - Precondition: `payload` is shorter than 4 GiB.
    public func append(enveloping payload: Span<UInt8>, flags: UInt8 = 0) {
        append(Envelope(flags: flags, length: UInt32(payload.count)))
        append(payload)
    }
}
