internal import RPC

extension MediaType {
    /// What is wrong with a response of this type: `unknown` for another protocol, `internal` for another codec.
    func error(responding rpcProtocol: RPCProtocol, in codec: Codec) -> RPCCode? {
        let isRightProtocol =
            switch rpcProtocol {
            case .connectUnary, .connectGet, .http: family != .foreign
            case .connectStream: family == .connectStream
            case .grpc: family == .grpc
            case .grpcWeb: family == .grpcWeb
            case .grpcWebText: family == .grpcWeb || family == .grpcWebText
            }
        guard isRightProtocol else { return .unknown }
        return self.codec == codec && (family == .bare) != rpcProtocol.hasEnvelopes ? nil : .internal
    }
}
