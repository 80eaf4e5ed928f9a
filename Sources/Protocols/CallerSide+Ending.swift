internal import Bytes
public import RPC

extension CallerSide {
    /// What follows the messages of a response to end it with `error`, once its head has gone out: bytes behind the body, or
    /// trailers; none in protocols whose responses can only be broken off.
    ///
    /// Good only where the body stands between two messages.
    public func ending(with error: RPCError) -> (body: [UInt8], trailers: [(name: [UInt8], value: [UInt8])])? {
        switch rpcProtocol {
        case .connectStream:
            let payload = ByteQueue()
            payload.append(endStream: error)
            let body = ByteQueue()
            body.append(enveloping: payload.readable, flags: Envelope.endStream)
            return (body.readable.array, [])
        case .grpc:
            return ([], error.grpcFields)
        case .grpcWeb, .grpcWebText:
            let body = ByteQueue()
            body.append(trailerFrame: error.grpcFields)
            return (webBody(body), [])
        case .connectUnary, .connectGet, .http:
            return nil
        }
    }
}
