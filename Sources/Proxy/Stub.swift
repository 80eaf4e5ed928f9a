internal import Bytes
internal import RPC
struct CallShapes: OptionSet, Sendable {
    let rawValue: UInt8
    static let unary = CallShapes(rawValue: 1)
    static let stream = CallShapes(rawValue: 2)
    static let all: CallShapes = [.unary, .stream]
}
enum DecompressionFailure: Error { case malformed, overLimit }
enum Compressor {
    static func supports(_ c: Compression) -> Bool { false }
    static func compress(_ bytes: Span<UInt8>, as: Compression, into queue: ByteQueue) {}
    static func decompress(_ bytes: Span<UInt8>, from: Compression, into queue: ByteQueue, limit: Int) throws(DecompressionFailure) {}
}
