internal import Bytes
internal import RPC

extension MediaType {
    /// What is wrong with a response of this type: `unknown` for another protocol, `internal` for another codec.
    ///
    /// gRPC identifies a response by the beginning of its type alone (gRPC over HTTP/2, "Responses"), and many servers
    /// respond with `application/grpc` whatever codec the request has. So a type without a codec has that of the request,
    /// and one that names another is wrong only for a reader of messages. Connect demands the same codec of every response.
    ///
    /// - Parameters:
    ///   - rpcProtocol: The protocol of the request.
    ///   - codec: The codec of the request.
    ///   - needsCodec: Whether Martlet reads the messages or names their codec again.
    /// - Returns: The code of the error; `nil` if the type is right.
    func error(responding rpcProtocol: RPCProtocol, in codec: Codec, needsCodec: Bool) -> RPCCode? {
        let isRightProtocol =
            switch rpcProtocol {
            case .connectUnary, .connectGet, .http: family != .foreign
            case .connectStream: family == .connectStream
            case .grpc: family == .grpc
            case .grpcWeb: family == .grpcWeb
            case .grpcWebText: family == .grpcWeb || family == .grpcWebText
            }
        guard isRightProtocol else { return .unknown }
        guard (family == .bare) != rpcProtocol.hasEnvelopes else { return .internal }
        let codecCounts = namesCodec && (needsCodec || rpcProtocol.family == .connect)
        return codecCounts && self.codec != codec ? .internal : nil
    }
}

extension Span<UInt8> {
    /// Whether one of the media types of an `accept` field is of RPC.
    public var listsRPCType: Bool {
        var start = 0
        while start < count {
            let end = firstIndex(of: UInt8(ascii: ","), from: start) ?? count
            let type = MediaType(extracting(start..<end))
            start = end + 1
            if type.family != .foreign, type.family != .bare || type.codec != .other { return true }
        }
        return false
    }
}
