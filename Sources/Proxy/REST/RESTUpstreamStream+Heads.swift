internal import Bytes
internal import HTTP
internal import Protocols
internal import RPC
internal import Time
internal import Types

/// The heads on the way to a server of REST, and back.
extension HTTPHead {
    private static let ofRPC = [
        "connect-protocol-version", "connect-accept-encoding", "connect-content-encoding", "accept-encoding",
        "content-encoding", "grpc-timeout", "grpc-encoding", "grpc-accept-encoding", "x-server-timeout",
    ].map { FieldName($0) }
    private static let connectTimeout = FieldName("connect-timeout-ms")
    private static let serverTimeout = FieldName("x-server-timeout")

    /// Makes the head of a Connect call that of a request to a REST path.
    ///
    /// - Parameters:
    ///   - binding: the path.
    ///   - target: what the message is as a request.
    ///   - time: how much of the caller's time is gone since the head was written.
    /// - Throws: an error if none is left.
    func becomeREST(_ binding: RESTBinding, _ target: RESTTarget, after time: Duration) throws(RPCError) {
        let (method, path, type) = (binding.httpMethod, target.target, target.contentType)
        setMethod(method.span)
        setTarget(path.span)
        for name in Self.ofRPC { remove(name) }
        acceptsTrailers = false
        if let index = first(Self.connectTimeout) {
            let left = (value(at: index).decimal ?? 0) - Int(time / .millisecond)
            remove(Self.connectTimeout)
            guard left > 0 else { throw RPCError(.deadlineExceeded, "the time of the caller is over") }
            let fraction = String(1000 + left % 1000).dropFirst()
            add(Self.serverTimeout, Array("\(left / 1000).\(fraction)".utf8).span)
        }
        if target.body == nil {
            remove(RESTResponseStream.contentType)
        } else {
            set(RESTResponseStream.contentType, type.span)
        }
        contentLength = target.body?.count
    }

    /// Makes the head of a response that of a Connect call with so many bytes.
    func becomeConnectResponse(count: Int) {
        setReason(Span())
        remove(RESTResponseStream.contentEncoding)
        set(RESTResponseStream.contentType, Array("application/json".utf8).span)
        contentLength = count
    }
}
