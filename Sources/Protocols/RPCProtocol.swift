/// What a caller speaks.
public enum RPCProtocol: UInt8, CaseIterable, Sendable {
    /// A Connect call with one message each way, by POST.
    case connectUnary
    /// A Connect call with one message each way, by GET.
    case connectGet
    /// A Connect stream.
    case connectStream
    /// gRPC.
    case grpc
    /// gRPC-Web in binary form.
    case grpcWeb
    /// gRPC-Web in base64.
    case grpcWebText
    /// HTTP that is no RPC.
    case http

    /// The name in the access log.
    public var name: StaticString {
        switch self {
        case .connectUnary: "connect_unary"
        case .connectGet: "connect_get"
        case .connectStream: "connect_stream"
        case .grpc: "grpc"
        case .grpcWeb: "grpc_web"
        case .grpcWebText: "grpc_web_text"
        case .http: "http"
        }
    }

    /// Whether each message of a body has an envelope.
    public var hasEnvelopes: Bool {
        switch self {
        case .connectStream, .grpc, .grpcWeb, .grpcWebText: true
        case .connectUnary, .connectGet, .http: false
        }
    }

    /// Whether it is one message each way in Connect, whose trailers are headers with a prefix.
    public var isUnaryConnect: Bool { self == .connectUnary || self == .connectGet }
}

/// How messages are written.
public enum Codec: UInt8, Sendable {
    /// Protobuf's binary form.
    case proto
    /// Protobuf's JSON form.
    case json
    /// Anything else.
    case other
}
