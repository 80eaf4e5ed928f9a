public import Bytes

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

    /// The codec that a content type of this protocol names; without a name it is `proto` in gRPC.
    public func codecName(in contentType: Span<UInt8>) -> CodecName {
        let type = contentType.mediaType
        let separator = hasEnvelopes ? UInt8(ascii: "+") : UInt8(ascii: "/")
        guard let index = type.firstIndex(of: separator) else { return CodecName(.proto) }
        return CodecName(type.extracting((index + 1)...))
    }
}

extension ByteQueue {
    /// Appends the names of the compressions that a field lists, behind those of other fields, with what HTTP allows there
    /// left out: weights, `*`, and what has a weight of zero (RFC 9110 §12.5.3).
    public func append(compressions field: Span<UInt8>) {
        var position = 0
        while position < field.count {
            let rest = field.extracting(position...)
            let item = rest.extracting(0..<(rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.count))
            position += item.count + 1
            let name = item.extracting(0..<(item.firstIndex(of: UInt8(ascii: ";")) ?? item.count)).trimmed
            guard !name.isEmpty, !name.equals("*"), !item.hasZeroWeight else { continue }
            if !isEmpty { append(",") }
            append(name)
        }
    }
}

extension Span<UInt8> {
    /// Whether an item of a list ends in `q=0`, with no digit behind it but zeros.
    fileprivate var hasZeroWeight: Bool {
        guard let equals = firstIndex(of: UInt8(ascii: "=")) else { return false }
        let weight = extracting((equals + 1)...).trimmed
        for index in weight.indices where weight[index] != UInt8(ascii: "0") && weight[index] != UInt8(ascii: ".") {
            return false
        }
        return !weight.isEmpty
    }
}
