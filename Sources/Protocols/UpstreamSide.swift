public import RPC

/// A protocol as it is spoken with an upstream: how a request is written, and what its responses say.
public struct UpstreamSide: Sendable {
    let rpcProtocol: RPCProtocol

    /// The field that tells the upstream how much time is left; none in plain HTTP.
    public var timeoutField: TimeoutField? { rpcProtocol.timeoutField }

    /// Whether the upstream has to speak HTTP/2: only there do trailers come for certain.
    public var needsHTTP2: Bool { rpcProtocol == .grpc }

    /// Makes the reader of a response.
    ///
    /// - Parameters:
    ///   - codec: The codec of the messages.
    ///   - messageLimit: The maximum number of bytes of one message; no limit if `nil`.
    ///   - needsCodec: Whether Martlet reads the messages or names their codec again.
    /// - Returns: The reader, before the head.
    public func makeReader(codec: Codec, messageLimit: Int?, needsCodec: Bool = false) -> ResponseReader {
        ResponseReader(rpcProtocol: rpcProtocol, codec: codec, messageLimit: messageLimit, needsCodec: needsCodec)
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
