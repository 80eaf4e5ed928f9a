internal import Bytes
public import RPC

extension CallerSide {
    /// The successful response of one message, given as JSON, to a caller of this protocol.
    ///
    /// - Parameters:
    ///   - json: the message in Protobuf's JSON form.
    ///   - codec: how the caller wants messages written.
    ///   - requestContentType: the value of the request's `content-type`, which an enveloped response keeps.
    /// - Returns: the whole response.
    /// - Throws: an error with the code `unimplemented` if the caller does not speak JSON.
    public func response(
        message json: [UInt8],
        codec: Codec,
        requestContentType: Span<UInt8>
    ) throws(RPCError) -> LocalResponse {
        guard rpcProtocol == .http || codec == .json else {
            let asked = codec == .proto ? "proto" : "another codec"
            throw RPCError(.unimplemented, "the configured response is JSON, but the caller uses \(asked)")
        }
        return response(encoded: json, codec: .json, requestContentType: requestContentType)
    }

    /// The successful response of one message, given in the codec of the caller.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - codec: its codec.
    ///   - requestContentType: the value of the request's `content-type`, which an enveloped response keeps.
    /// - Returns: the whole response.
    public func response(encoded message: [UInt8], codec: Codec, requestContentType: Span<UInt8>) -> LocalResponse {
        guard rpcProtocol.hasEnvelopes else {
            return LocalResponse(contentType: Array("application/\(codec)".utf8), body: message)
        }
        return enveloped(message, contentType: requestContentType.mediaType.array)
    }

    private func enveloped(_ json: [UInt8], contentType: [UInt8]) -> LocalResponse {
        let success = [(name: Array("grpc-status".utf8), value: Array("0".utf8))]
        let body = ByteQueue()
        body.append(enveloping: json.span)
        var response = LocalResponse(contentType: contentType)
        switch rpcProtocol {
        case .connectStream: body.append(enveloping: Array("{}".utf8).span, flags: Envelope.endStream)
        case .grpcWeb, .grpcWebText: body.append(trailerFrame: success)
        default: response.trailers = success
        }
        response.body = webBody(body)
        response.respondsToOneMessage = true
        return response
    }
}
