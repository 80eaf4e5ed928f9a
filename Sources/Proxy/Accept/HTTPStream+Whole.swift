package import HTTP
internal import Protocols
internal import RPC

extension HTTPStream {
    /// Sends a response whose body is at hand, and ends the exchange.
    private func sendWhole(
        status: Int,
        fields: [(name: [UInt8], value: [UInt8])],
        body: [UInt8],
        heads: HTTPHeadPool
    ) {
        let head = heads.acquire()
        head.status = status
        if !body.isEmpty { head.contentLength = body.count }
        for (name, value) in fields { head.add(name: name.span, value: value.span) }
        send(head: head, end: body.isEmpty)
        if !body.isEmpty {
            send(body: body.span)
            sendEnd(trailers: nil)
        }
        heads.release(head)
    }

    /// Responds to a request that was rejected before it began, in the protocol that its head shows, if it came so far; else
    /// in plain HTTP with a JSON error.
    package func reject(_ error: HTTPError, head: HTTPHead? = nil, heads: HTTPHeadPool) {
        let error = RPCError(error.code, error.text, httpStatus: error.status)
        let response: LocalResponse
        if let head, let type = head.first(.contentType) {
            response = Classification(head).rpcProtocol.callerSide.response(
                to: error,
                requestContentType: head.value(at: type)
            )
        } else {
            response = RPCProtocol.http.callerSide.response(to: error, requestContentType: Span())
        }
        sendWhole(status: response.status, fields: response.headers, body: response.body, heads: heads)
    }
}
