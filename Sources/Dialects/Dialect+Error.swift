internal import Bytes
public import RPC

extension Dialect {
    /// The answer that tells a caller of this dialect about `error`.
    ///
    /// The HTTP status the error asks for counts in unary Connect and in plain HTTP. In a Connect stream it counts if it
    /// is 404, 405 or 415, which tell that there is no such stream; the gRPC dialects always answer 200.
    ///
    /// gRPC is told in the head alone, so that a caller who came by HTTP/1.1, which gRPC is not made for, reads it too.
    ///
    /// - Parameters:
    ///   - error: what to tell.
    ///   - requestContentType: the value of the request's `content-type`, which an enveloped answer keeps.
    /// - Returns: the whole answer.
    public func answer(to error: RPCError, requestContentType: Span<UInt8>) -> LocalAnswer {
        switch self {
        case .connectUnary, .connectGet, .http: jsonAnswer(to: error)
        case .connectStream: streamAnswer(to: error, requestContentType)
        case .grpc: trailersOnly(error, requestContentType)
        case .grpcWeb, .grpcWebText: webAnswer(to: error, requestContentType)
        }
    }

    private func jsonAnswer(to error: RPCError) -> LocalAnswer {
        let body = ByteQueue()
        body.append(json: error)
        var answer = LocalAnswer(
            status: error.httpStatus ?? error.code.httpStatus,
            contentType: Array("application/json".utf8),
            body: body.readable.array
        )
        answer.headers += error.metadata.fields
        return answer
    }

    private func streamAnswer(to error: RPCError, _ requestContentType: Span<UInt8>) -> LocalAnswer {
        if let status = error.httpStatus, [404, 405, 415].contains(status) { return jsonAnswer(to: error) }
        let payload = ByteQueue()
        payload.append(endStream: error)
        let body = ByteQueue()
        body.append(enveloping: payload.readable, flags: Envelope.endStream)
        return LocalAnswer(contentType: requestContentType.mediaType.array, body: body.readable.array)
    }

    private func trailersOnly(_ error: RPCError, _ requestContentType: Span<UInt8>) -> LocalAnswer {
        var answer = LocalAnswer(contentType: requestContentType.mediaType.array)
        answer.headers += error.grpcFields
        return answer
    }

    private func webAnswer(to error: RPCError, _ requestContentType: Span<UInt8>) -> LocalAnswer {
        let body = ByteQueue()
        body.append(trailerFrame: error.grpcFields)
        return LocalAnswer(contentType: requestContentType.mediaType.array, body: webBody(body))
    }

    /// The bytes of a gRPC-Web body, in base64 if the dialect has it so.
    func webBody(_ body: ByteQueue) -> [UInt8] {
        guard self == .grpcWebText else { return body.readable.array }
        let text = ByteQueue()
        text.append(base64: body.readable, padded: true)
        return text.readable.array
    }
}
