public import RPC

/// A family of protocols that one server understands.
public enum RPCFamily: Sendable {
    /// Connect: unary calls by POST and GET, and streams.
    case connect
    /// gRPC.
    case grpc
    /// gRPC-Web, in binary and as text.
    case grpcWeb
}

extension RPCProtocol {
    /// The family; none for HTTP that is no RPC.
    public var family: RPCFamily? {
        switch self {
        case .connectUnary, .connectGet, .connectStream: .connect
        case .grpc: .grpc
        case .grpcWeb, .grpcWebText: .grpcWeb
        case .http: nil
        }
    }

    /// What an upstream is spoken to in for a caller of this protocol: in the same, if the upstream understands it.
    ///
    /// - Parameters:
    ///   - families: what the upstream understands; of those that the caller does not speak, the first is used.
    ///   - includesText: whether the upstream understands gRPC-Web as text as well as in binary.
    ///   - isUnary: whether the method has one message each way, if that is known.
    /// - Returns: the protocol of the upstream.
    /// - Throws: an error with the code `unimplemented` for a call that cannot be translated.
    public func translated(
        for families: [RPCFamily],
        includesText: Bool,
        isUnary: () -> Bool?
    ) throws(RPCError) -> RPCProtocol {
        guard let family, let first = families.first else { return self }
        if families.contains(family) { return self == .grpcWebText && !includesText ? .grpcWeb : self }
        switch first {
        case .grpc: return .grpc
        case .grpcWeb: return .grpcWeb
        case .connect:
            if let isUnary = isUnary() { return isUnary ? .connectUnary : .connectStream }
            throw RPCError(
                .unimplemented,
                "it speaks Connect, which tells unary calls from streams, and Martlet does not know the types of the method"
            )
        }
    }
}
