internal import Configuration
internal import Protocols

extension UpstreamSettings.WireCodec {
    /// The codec.
    var codec: Codec {
        switch self {
        case .proto: .proto
        case .json: .json
        }
    }
}

extension UpstreamSettings.WireProtocol {
    /// The family of protocols; none for whatever the caller speaks.
    var family: RPCFamily? {
        switch self {
        case .same: nil
        case .grpc: .grpc
        case .grpcWeb: .grpcWeb
        // Text comes beside binary, and is asked for apart.
        case .grpcWebText: nil
        // What has become Connect becomes REST next to the connection.
        case .connect, .rest: .connect
        }
    }
}
