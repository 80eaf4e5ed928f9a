internal import Bytes
public import RPC

extension CallerSide {
    /// The error of an end frame.
    public enum EndError {
        /// One that was made here.
        case made(RPCError)
        /// One that has come as Connect's JSON, and goes on as it was.
        case arrived([UInt8])
    }

    /// The frame that ends the body of a response in gRPC-Web or a Connect stream, as bytes of that body.
    ///
    /// - Parameters:
    ///   - error: the error, if the call has failed; in gRPC-Web it is among the fields.
    ///   - fields: the trailers, with names in small letters; values of one name stand in their order.
    /// - Returns: the frame, in base64 if the protocol has it so.
    public func endFrame(error: EndError?, fields: [(name: [UInt8], value: [UInt8])]) -> [UInt8] {
        let body = ByteQueue()
        guard rpcProtocol == .connectStream else {
            body.append(trailerFrame: fields)
            return webBody(body)
        }
        let payload = ByteQueue()
        payload.append(endStream: error, fields)
        body.append(enveloping: payload.readable, flags: Envelope.endStream)
        return body.readable.array
    }

    /// The fields that end a gRPC call with this error, or with success: `grpc-status` and what belongs to it.
    public static func grpcFields(_ error: RPCError?) -> [(name: [UInt8], value: [UInt8])] {
        error?.grpcFields ?? [(Array("grpc-status".utf8), Array("0".utf8))]
    }

    /// The response that tells a caller of this protocol about `error`, or about a success without a message.
    public func response(to error: RPCError?, codec: Codec, requestContentType: Span<UInt8>) -> LocalResponse {
        if let error { return response(to: error, requestContentType: requestContentType) }
        let type =
            rpcProtocol.hasEnvelopes ? requestContentType.mediaType.array : Array("application/\(codec.name)".utf8)
        switch rpcProtocol {
        case .connectUnary, .connectGet, .http:
            return LocalResponse(contentType: type, body: codec == .json ? Array("{}".utf8) : [])
        case .connectStream, .grpcWeb, .grpcWebText:
            return LocalResponse(contentType: type, body: endFrame(error: nil, fields: Self.grpcFields(nil)))
        case .grpc:
            var response = LocalResponse(contentType: type)
            response.headers += Self.grpcFields(nil)
            return response
        }
    }
}

extension Codec {
    fileprivate var name: String {
        self == .proto ? "proto" : "json"
    }
}
