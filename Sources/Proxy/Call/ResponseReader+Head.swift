internal import Bytes
internal import HTTP
internal import Protocols
internal import RPC

extension ResponseReader {
    /// Sees the head of a response.
    mutating func read(_ head: HTTPHead, _ rpcProtocol: RPCProtocol) {
        let status = head.status
        let compression = head.compression(rpcProtocol)
        let length = head.contentLength
        switch (head.first(.contentType), head.first(.grpcStatus), head.first(.grpcMessage)) {
        case (nil, _, _):
            self.head(status: status, contentType: nil, compression: compression, contentLength: length)
        case (let type?, nil, _):
            self.head(
                status: status,
                contentType: head.value(at: type),
                compression: compression,
                contentLength: length
            )
        case (let type?, let code?, nil):
            self.head(
                status: status,
                contentType: head.value(at: type),
                compression: compression,
                grpcStatus: head.value(at: code),
                contentLength: length
            )
        case (let type?, let code?, let message?):
            self.head(
                status: status,
                contentType: head.value(at: type),
                compression: compression,
                grpcStatus: head.value(at: code),
                grpcMessage: head.value(at: message),
                contentLength: length
            )
        }
    }

    /// Concludes from the trailers.
    mutating func end(trailers: HTTPHead) -> Conclusion {
        switch (trailers.first(.grpcStatus), trailers.first(.grpcMessage)) {
        case (nil, _): end(hasTrailers: trailers.count > 0)
        case (let code?, nil): end(trailerGRPCStatus: trailers.value(at: code))
        case (let code?, let message?):
            end(trailerGRPCStatus: trailers.value(at: code), trailerGRPCMessage: trailers.value(at: message))
        }
    }
}

extension HTTPHead {
    /// How the messages are compressed that follow the head.
    func compression(_ rpcProtocol: RPCProtocol) -> Compression {
        let field = rpcProtocol.encodingField
        guard let index = first(field) else { return .identity }
        // Two fields are a list: one compression after another, which no protocol of RPC has.
        return first(field, from: index + 1) == nil ? Compression(name: value(at: index)) : .unknown
    }
}
