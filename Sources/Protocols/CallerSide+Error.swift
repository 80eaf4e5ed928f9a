internal import Bytes
public import RPC

extension CallerSide {
    /// The response that tells a caller of this protocol about `error`.
    ///
    /// The HTTP status the error asks for counts in unary Connect and in plain HTTP. In a Connect stream it counts if it
    /// is 404, 405 or 415, which tell that there is no such stream; the gRPC protocols always respond with 200.
    ///
    /// An error about the compression of the request lists the others in the field that the protocol has for them (gRPC's
    /// compression.md, RFC 9110 §12.5.3).
    ///
    /// gRPC is told in the head alone, so that a caller who came by HTTP/1.1, which gRPC is not made for, reads it too.
    ///
    /// - Parameters:
    ///   - error: what to tell.
    ///   - requestContentType: the value of the request's `content-type`, which an enveloped response keeps.
    /// - Returns: the whole response.
    public func response(to error: RPCError, requestContentType: Span<UInt8>) -> LocalResponse {
        var response =
            switch rpcProtocol {
            case .connectUnary, .connectGet, .http: jsonResponse(to: error)
            case .connectStream: streamResponse(to: error, requestContentType)
            case .grpc: trailersOnly(error, requestContentType)
            case .grpcWeb, .grpcWebText: webResponse(to: error, requestContentType)
            }
        if !error.compressions.isEmpty {
            let names = error.compressions.compactMap(\.name).map(\.description).joined(separator: ",")
            response.headers.append((Array(rpcProtocol.acceptFieldName.description.utf8), Array(names.utf8)))
        }
        return response
    }

    private func jsonResponse(to error: RPCError) -> LocalResponse {
        let body = ByteQueue()
        body.append(json: error)
        var response = LocalResponse(
            status: error.httpStatus ?? error.code.httpStatus,
            contentType: Array("application/json".utf8),
            body: body.readable.array
        )
        response.headers += error.metadata.fields
        return response
    }

    private func streamResponse(to error: RPCError, _ requestContentType: Span<UInt8>) -> LocalResponse {
        if let status = error.httpStatus, [404, 405, 415].contains(status) { return jsonResponse(to: error) }
        let payload = ByteQueue()
        payload.append(endStream: error)
        let body = ByteQueue()
        body.append(enveloping: payload.readable, flags: Envelope.endStream)
        return LocalResponse(contentType: requestContentType.mediaType.array, body: body.readable.array)
    }

    private func trailersOnly(_ error: RPCError, _ requestContentType: Span<UInt8>) -> LocalResponse {
        var response = LocalResponse(contentType: requestContentType.mediaType.array)
        response.headers += error.grpcFields
        return response
    }

    private func webResponse(to error: RPCError, _ requestContentType: Span<UInt8>) -> LocalResponse {
        let body = ByteQueue()
        body.append(trailerFrame: error.grpcFields)
        return LocalResponse(contentType: requestContentType.mediaType.array, body: webBody(body))
    }

    /// The bytes of a gRPC-Web body, in base64 if the protocol has it so.
    func webBody(_ body: ByteQueue) -> [UInt8] {
        guard rpcProtocol == .grpcWebText else { return body.readable.array }
        let text = ByteQueue()
        text.append(base64: body.readable, padded: true)
        return text.readable.array
    }
}
