/// The protocol a caller speaks, as the label `protocol` names it.
public enum CallProtocol: UInt8, CaseIterable, Sendable {
    /// Connect, unary, GET or streaming.
    case connect
    /// gRPC over HTTP/2.
    case grpc
    /// gRPC-Web, binary or base64.
    case grpcWeb
    /// Plain HTTP.
    case http
    /// A REST path of a method.
    case rest

    /// The value of the label.
    public var label: StaticString {
        switch self {
        case .connect: "connect"
        case .grpc: "grpc"
        case .grpcWeb: "grpc_web"
        case .http: "http"
        case .rest: "rest"
        }
    }
}
