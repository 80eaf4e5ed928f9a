internal import RPC

extension MediaType {
    /// What is wrong with an answer of this type: `unknown` for another protocol, `internal` for another codec.
    func fault(answering dialect: Dialect, in codec: Codec) -> RPCCode? {
        let isRightProtocol =
            switch dialect {
            case .connectUnary, .connectGet: family != .foreign
            case .connectStream: family == .connectStream
            case .grpc: family == .grpc
            case .grpcWeb, .grpcWebText: family == .grpcWeb || family == .grpcWebText
            case .http: true
            }
        guard isRightProtocol else { return .unknown }
        return dialect == .http || self.codec == codec ? nil : .internal
    }
}
