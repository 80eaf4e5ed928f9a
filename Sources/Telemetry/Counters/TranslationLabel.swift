/// From which protocol of a caller into which of an upstream a call was translated: the labels `from` and `to`.
public enum TranslationLabel: UInt8, CaseIterable, Sendable {
    case connectToGRPC, connectToGRPCWeb
    case grpcToGRPCWeb, grpcToConnect
    case grpcWebToGRPC, grpcWebToConnect
    case restToConnect, restToGRPC, restToGRPCWeb
    case connectToREST, grpcToREST, grpcWebToREST

    /// The values of the labels.
    public var labels: (from: StaticString, to: StaticString) {
        switch self {
        case .connectToGRPC: ("connect", "grpc")
        case .connectToGRPCWeb: ("connect", "grpc_web")
        case .grpcToGRPCWeb: ("grpc", "grpc_web")
        case .grpcToConnect: ("grpc", "connect")
        case .grpcWebToGRPC: ("grpc_web", "grpc")
        case .grpcWebToConnect: ("grpc_web", "connect")
        case .connectToREST: ("connect", "rest")
        case .grpcToREST: ("grpc", "rest")
        case .grpcWebToREST: ("grpc_web", "rest")
        case .restToConnect: ("rest", "connect")
        case .restToGRPC: ("rest", "grpc")
        case .restToGRPCWeb: ("rest", "grpc_web")
        }
    }
}
