internal import Bytes

/// What the head of a request tells about the call.
public struct Classification: Equatable, Sendable {
    /// What the caller speaks, and wants to be answered in.
    public let rpcProtocol: RPCProtocol
    /// How the caller's messages are written; `other` for plain HTTP.
    public let codec: Codec
    /// The service and the method, where the path names them; in plain HTTP only with a package.
    public let procedure: Procedure?
    /// What makes the request none that a server of RPC can respond to, if it is meant as RPC.
    public let malformedRPC: MalformedRPC?

    /// Classifies a request; allocates nothing.
    ///
    /// Several content types make a request plain HTTP, since nobody knows which of them another server would believe.
    ///
    /// - Parameters:
    ///   - method: the HTTP method.
    ///   - contentType: the value of the field `content-type`, if there is one.
    ///   - contentTypeCount: how many such fields there are.
    ///   - isConnectVersion1: whether the field `connect-protocol-version` is `1`.
    ///   - path: the path of the target, without the query.
    ///   - query: the query of the target, without its `?`; empty if there is none.
    public init(
        method: Span<UInt8>,
        contentType: Span<UInt8>?,
        contentTypeCount: Int,
        isConnectVersion1: Bool,
        path: Span<UInt8>,
        query: Span<UInt8>
    ) {
        let procedure = Procedure(path: path)
        let isQualified = procedure?.isQualified ?? false
        let type = MediaType(contentTypeCount > 1 ? nil : contentType)
        (rpcProtocol, codec) = Self.recognize(
            type,
            method,
            isConnect: isConnectVersion1,
            isProcedure: isQualified,
            query: contentTypeCount > 1 ? query.extracting(0..<0) : query
        )
        malformedRPC = MalformedRPC(
            type,
            method,
            as: rpcProtocol,
            isConnect: isConnectVersion1,
            isProcedure: isQualified
        )
        self.procedure = rpcProtocol == .http && !isQualified ? nil : procedure
    }

    private static func recognize(
        _ type: MediaType,
        _ method: Span<UInt8>,
        isConnect: Bool,
        isProcedure: Bool,
        query: Span<UInt8>
    ) -> (RPCProtocol, Codec) {
        switch type.family {
        case .grpc: return (.grpc, type.codec)
        case .grpcWeb: return (.grpcWeb, type.codec)
        case .grpcWebText: return (.grpcWebText, type.codec)
        case .connectStream where method.equals("POST"): return (.connectStream, type.codec)
        case .bare where method.equals("POST") && (isConnect || isProcedure && type.codec != .other):
            return (.connectUnary, type.codec)
        default: break
        }
        if query.count > 0, method.equals("GET"), let query = ConnectQuery(query) { return (.connectGet, query.codec) }
        return (.http, .other)
    }
}
