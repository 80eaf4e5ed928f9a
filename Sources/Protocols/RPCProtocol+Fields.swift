public import Bytes
internal import RPC

/// What a protocol calls the fields that each of them has.
extension RPCProtocol {
    /// What a content type says before the codec.
    public var contentTypeStart: StaticString {
        switch self {
        case .connectUnary, .connectGet, .http: "application/"
        case .connectStream: "application/connect+"
        case .grpc: "application/grpc+"
        case .grpcWeb: "application/grpc-web+"
        case .grpcWebText: "application/grpc-web-text+"
        }
    }

    /// The name of the field that lists the compressions that are understood.
    public var acceptFieldName: StaticString {
        switch self {
        case .connectUnary, .connectGet, .http: "accept-encoding"
        case .connectStream: "connect-accept-encoding"
        case .grpc, .grpcWeb, .grpcWebText: "grpc-accept-encoding"
        }
    }

    /// The codec that a content type of this protocol names; without a name it is `proto` in gRPC.
    public func codecName(in contentType: Span<UInt8>) -> CodecName {
        let type = contentType.mediaType
        let separator = hasEnvelopes ? UInt8(ascii: "+") : UInt8(ascii: "/")
        guard let index = type.firstIndex(of: separator) else { return CodecName(.proto) }
        let name = type.extracting((index + 1)...)
        return name.isEmpty && family != .connect ? CodecName(.proto) : CodecName(name)
    }
}

extension ByteQueue {
    /// Appends the names of the compressions that a field lists, behind those of other fields.
    ///
    /// Parts that only HTTP allows are left out: weights, `*`, and names with a weight of zero (RFC 9110 §12.5.3). HTTP ignores the
    /// case of a name and gRPC does not, so known names are written in small letters.
    public func append(compressions field: Span<UInt8>) {
        var position = 0
        while let item = CompressionItem(in: field, at: &position) {
            let name = field.extracting(item.name)
            guard !name.equals("*"), !item.isExcluded else { continue }
            if !isEmpty { append(",") }
            if let known = Compression(name: name).name { append(known) } else { append(name) }
        }
    }
}
