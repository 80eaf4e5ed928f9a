internal import Bytes
internal import HTTP
internal import Protocols
internal import RPC
internal import Types

/// What the head of a request to a REST path says.
struct RESTMatch {
    let binding: RESTBinding
    /// What the request means; none if the head has an error.
    let request: RESTRequest?
    /// The time of the caller in milliseconds, if it has said one.
    let timeout: Int?
    /// The error of the head.
    let error: RPCError?

    /// Finds the path; none if the request is RPC, or no path of the table fits.
    init?(_ head: HTTPHead, _ table: RESTTable, _ types: KnownTypes, limit: Int) {
        guard table.mayMatch(head.path), !head.isCall(of: types.set) else { return nil }
        switch table.match(head.method, head.path) {
        case .none: return nil
        case .otherMethods(let binding, let methods):
            // A web page asks before it calls, and a route may have what it wants to know (Fetch §3.2).
            if head.method.equals("OPTIONS") { return nil }
            self.binding = binding
            (request, timeout) = (nil, nil)
            let list = methods.joined(separator: ", ")
            error = RPCError(
                .unimplemented,
                "the path takes \(list)",
                metadata: [("allow", list)],
                httpStatus: 405
            )
        case .found(let binding, let variables):
            self.binding = binding
            do throws(RPCError) {
                let parameters = try RESTParameters(
                    binding,
                    variables: variables,
                    path: head.path,
                    query: head.query,
                    ignored: types.ignored
                )
                timeout = try head.serverTimeout()
                request = RESTRequest(binding: binding, parameters: parameters, types: types, limit: limit)
                error = nil
            } catch {
                (request, timeout) = (nil, nil)
                self.error = error
            }
        }
    }
}

extension HTTPHead {
    private static let serverTimeout = FieldName("x-server-timeout")
    private static let connectTimeout = FieldName("connect-timeout-ms")
    private static let connectVersion = FieldName("connect-protocol-version")
    /// What means something in REST alone, or something else in Connect.
    private static let ofREST = [
        "accept", "accept-encoding", "content-encoding", "x-server-timeout", "connect-protocol-version",
        "connect-timeout-ms", "connect-accept-encoding", "connect-content-encoding", "grpc-timeout", "grpc-encoding",
        "grpc-accept-encoding",
    ].map { FieldName($0) }

    /// Whether the request is one of RPC: no field of it can make the path of a method that of another call.
    fileprivate func isCall(of types: TypeSet) -> Bool {
        let rpcProtocol = Classification(self).rpcProtocol
        return rpcProtocol.hasEnvelopes || rpcProtocol.isUnaryConnect && types.method(path: path) != nil
    }

    /// The time of the caller, which REST has in seconds, with a fraction.
    fileprivate func serverTimeout() throws(RPCError) -> Int? {
        guard let index = first(Self.serverTimeout) else { return nil }
        guard first(Self.serverTimeout, from: index + 1) == nil else {
            throw RPCError(.invalidArgument, "x-server-timeout comes twice")
        }
        let text = value(at: index).string
        guard let seconds = Double(text), text.utf8.allSatisfy({ "0123456789.".utf8.contains($0) }) else {
            throw RPCError(.invalidArgument, "x-server-timeout is not a number of seconds")
        }
        return Int(min(seconds, 9_999_999) * 1000)
    }

    /// Makes the head of a request to a REST path that of a Connect call with JSON.
    func becomeConnect(_ match: RESTMatch) {
        let method = match.binding.method
        let (path, type) = (method.path, method.streams ? Self.stream : Self.unary)
        setMethod(Self.post.span)
        setTarget(path.span)
        set(RESTResponseStream.contentType, type.span)
        for name in Self.ofREST { remove(name) }
        add(Self.connectVersion, Self.one.span)
        if let timeout = match.timeout { add(Self.connectTimeout, Array("\(timeout)".utf8).span) }
        contentLength = nil
    }

    private static let post = Array("POST".utf8)
    private static let one = Array("1".utf8)
    private static let unary = Array("application/json".utf8)
    private static let stream = Array("application/connect+json".utf8)
}
