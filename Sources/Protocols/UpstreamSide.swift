public import RPC

/// A protocol as it is spoken with an upstream: how a request is written, and what its responses say.
public struct UpstreamSide: Sendable {
    let rpcProtocol: RPCProtocol

    /// The field that tells the upstream how much time is left; none in plain HTTP.
    public var timeoutField: TimeoutField? { rpcProtocol.timeoutField }

    /// Whether the upstream has to speak HTTP/2: only there do trailers come for certain.
    public var needsHTTP2: Bool { rpcProtocol == .grpc }

    /// Reads a response; `messageLimit` is the most bytes that one message may have, none for no limit.
    public func makeReader(codec: Codec, messageLimit: Int?) -> ResponseReader {
        ResponseReader(rpcProtocol: rpcProtocol, codec: codec, messageLimit: messageLimit)
    }
}

extension RPCProtocol {
    /// The protocol as it is spoken with an upstream.
    public var upstreamSide: UpstreamSide { UpstreamSide(rpcProtocol: self) }

    /// The field in which a request says its time-out.
    var timeoutField: TimeoutField? {
        switch self {
        case .connectUnary, .connectGet, .connectStream: .connect
        case .grpc, .grpcWeb, .grpcWebText: .grpc
        case .http: nil
        }
    }
}
