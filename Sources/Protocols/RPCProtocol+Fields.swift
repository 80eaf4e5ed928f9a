public import RPC

/// The header fields that a protocol has of its own.
extension RPCProtocol {
    /// The field in which a caller brings its time-out; none in plain HTTP, where a field of that name means nothing.
    public var timeoutField: TimeoutField? {
        switch self {
        case .connectUnary, .connectGet, .connectStream: .connect
        case .grpc, .grpcWeb, .grpcWebText: .grpc
        case .http: nil
        }
    }
}
