internal import Bytes

/// Tells success from a compressed end frame without decompressing it.
///
/// Servers that compress do it to end frames as well, so without this each good call of theirs would count as unknown.
/// A gzip member ends with the CRC-32 and the length of its content (RFC 1952 §2.3.1), and the frame of a success that
/// has no metadata is always the same few bytes: those eight bytes give it away.
enum CompressedEnd {
    /// The CRC-32 and the length of `{}`.
    private static let connect: [UInt8] = [0x43, 0xbf, 0xa6, 0xa3, 2, 0, 0, 0]
    /// The CRC-32 and the length of `grpc-status: 0` and its line break.
    private static let grpcWeb: [UInt8] = [0xfd, 0x6c, 0x24, 0xab, 16, 0, 0, 0]

    /// Whether `payload` is the gzip of an end frame that tells of success.
    static func isSuccess(_ payload: Span<UInt8>) -> Bool {
        payload.hasPrefix([0x1f, 0x8b]) && (payload.hasSuffix(connect) || payload.hasSuffix(grpcWeb))
    }
}
