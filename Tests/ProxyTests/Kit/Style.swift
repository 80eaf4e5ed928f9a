import Bytes
import Compressors
import HTTP2Kit
import RPC

/// How the two ends of a call speak.
enum Style: CaseIterable {
    case connectUnary, connectStream, grpc, grpcWeb, grpcWebText

    /// Those whose messages have envelopes.
    static let streams: [Style] = [.connectStream, .grpc, .grpcWeb, .grpcWebText]

    var contentType: String {
        switch self {
        case .connectUnary: "application/json"
        case .connectStream: "application/connect+json"
        case .grpc: "application/grpc+json"
        case .grpcWeb: "application/grpc-web+json"
        case .grpcWebText: "application/grpc-web-text+json"
        }
    }

    /// The field that says how messages are compressed.
    var encodingField: String {
        switch self {
        case .connectUnary: "content-encoding"
        case .connectStream: "connect-content-encoding"
        default: "grpc-encoding"
        }
    }

    var timeoutField: (String, String) {
        self == .connectUnary || self == .connectStream ? ("connect-timeout-ms", "1000") : ("grpc-timeout", "1S")
    }

    /// A message as the body has it.
    func framed(_ message: [UInt8], flags: UInt8 = 0) -> [UInt8] {
        guard self != .connectUnary else { return message }
        let bytes = [flags] + message.count.bigEndianBytes + message
        return self == .grpcWebText ? Self.text(bytes) : bytes
    }

    static func text(_ bytes: [UInt8]) -> [UInt8] {
        let queue = ByteQueue()
        queue.append(base64: bytes.span, padded: true)
        return queue.readable.array
    }

    /// The bytes of base64 that may be padded in its middle, as far as it is whole.
    static func bytes(ofText text: [UInt8]) -> [UInt8] {
        stride(from: 0, to: text.count - text.count % 4, by: 4).flatMap { start in
            Base64.decode(Array(text[start..<start + 4]).span) ?? []
        }
    }
}

/// Compresses and decompresses as the other ends of the worker do.
enum Gzip {
    static func compressed(_ bytes: [UInt8]) -> [UInt8] {
        let queue = ByteQueue()
        Compressor().compress(bytes.span, as: .gzip, into: queue)
        return queue.readable.array
    }

    static func decompressed(_ bytes: [UInt8]) -> [UInt8] {
        let queue = ByteQueue()
        do {
            try Compressor().decompress(bytes.span, from: .gzip, into: queue, limit: 1 << 26)
        } catch {
            return Array("not gzip".utf8)
        }
        return queue.readable.array
    }
}
