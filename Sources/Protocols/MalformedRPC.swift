internal import Bytes

/// What makes a request that is meant as RPC none that a server of RPC can respond to.
public enum MalformedRPC: Equatable, Sendable {
    /// The verb; calls of its kind are made by POST, some of them by GET as well.
    case verb(allowsGet: Bool)
    /// The content type: none, several, or one that no protocol has.
    case contentType

    /// - Parameters:
    ///   - type: the content type.
    ///   - method: the HTTP method.
    ///   - rpcProtocol: what the request is classified as.
    ///   - isConnect: whether it says that it is Connect.
    ///   - isProcedure: whether its path is that of a procedure.
    init?(
        _ type: MediaType,
        _ method: Span<UInt8>,
        as rpcProtocol: RPCProtocol,
        isConnect: Bool,
        isProcedure: Bool
    ) {
        let isPost = method.equals("POST")
        switch rpcProtocol {
        case .http where isPost && (isConnect || isProcedure): self = .contentType
        case .http where !isPost && type.family == .connectStream: self = .verb(allowsGet: false)
        case .http where !isPost && isConnect: self = method.equals("GET") ? .contentType : .verb(allowsGet: true)
        case .grpc where !isPost, .grpcWeb where !isPost, .grpcWebText where !isPost: self = .verb(allowsGet: false)
        default: return nil
        }
    }
}
