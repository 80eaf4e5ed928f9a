public import Bytes
public import RPC

/// Compresses and decompresses whole messages: gzip and deflate by zlib, br by Brotli, zstd by Zstandard.
///
/// Belongs to one thread. What a library needs is made when it is first needed and kept for the next message, except
/// for Brotli, which cannot begin again.
public final class Compressor {
    private lazy var gzip = Deflater(.gzip)
    private lazy var deflate = Deflater(.zlib)
    private lazy var inflater = Inflater()
    private lazy var zstdEncoder = ZstdEncoder()
    private lazy var zstdDecoder = ZstdDecoder()

    /// Makes a compressor that holds nothing yet.
    public init() {}

    /// The compressions that messages can be read and written in, the usual one first.
    public static let all: [Compression] = [.gzip, .br, .zstd, .deflate]

    /// Whether messages of this compression can be read and written.
    public static func supports(_ compression: Compression) -> Bool {
        switch compression {
        case .identity, .gzip, .deflate, .br, .zstd: true
        case .snappy, .unknown: false
        }
    }

    /// Appends `bytes` to `queue`, compressed.
    ///
    /// - Precondition: the compression is supported.
    public func compress(_ bytes: Span<UInt8>, as compression: Compression, into queue: ByteQueue) {
        switch compression {
        case .identity: queue.append(bytes)
        case .gzip: gzip.encode(bytes, into: queue)
        case .deflate: deflate.encode(bytes, into: queue)
        case .br: BrotliEncoder(sizeHint: bytes.count).encode(bytes, into: queue)
        case .zstd: zstdEncoder.encode(bytes, into: queue)
        case .snappy, .unknown: preconditionFailure("no such compressor")
        }
    }

    /// Appends to `queue` what the compressed `bytes` stand for; of no bytes, none.
    ///
    /// After a failure, what was decompressed before it is in the queue.
    ///
    /// - Precondition: the compression is supported.
    /// - Parameters:
    ///   - bytes: the whole of a compressed message.
    ///   - compression: how it is compressed; deflate is in zlib's format (RFC 9110 §8.4.1.2).
    ///   - queue: where to put it.
    ///   - limit: the most bytes that it may stand for.
    /// - Throws: that the bytes are broken, cut off or followed by others, or that they stand for too many.
    public func decompress(
        _ bytes: Span<UInt8>,
        from compression: Compression,
        into queue: ByteQueue,
        limit: Int
    ) throws(DecompressionError) {
        guard bytes.count > 0 else { return }
        switch compression {
        case .identity:
            guard bytes.count <= limit else { throw .overLimit }
            queue.append(bytes)
        case .gzip: try inflater.starting(.gzip).decode(bytes, into: queue, limit: limit)
        case .deflate: try inflater.starting(.zlib).decode(bytes, into: queue, limit: limit)
        case .br: try BrotliDecoder().decode(bytes, into: queue, limit: limit)
        case .zstd: try zstdDecoder.starting(limit: limit).decode(bytes, into: queue, limit: limit)
        case .snappy, .unknown: preconditionFailure("no such compressor")
        }
    }
}
