internal import RPC

extension MediaType {
    /// What is wrong with an answer of this type: `unknown` for another protocol, `internal` for another codec.
    func fault(answering dialect: Dialect, in codec: Codec) -> RPCCode? {
        let isRightProtocol =
            switch dialect {
            case .connectUnary, .connectGet, .http: family != .foreign
            case .connectStream: family == .connectStream
            case .grpc: family == .grpc
            case .grpcWeb: family == .grpcWeb
            case .grpcWebText: family == .grpcWeb || family == .grpcWebText
            }
        guard isRightProtocol else { return .unknown }
        return self.codec == codec && (family == .bare) != dialect.hasEnvelopes ? nil : .internal
    }
}
