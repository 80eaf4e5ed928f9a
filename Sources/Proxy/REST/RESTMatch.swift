internal import Bytes
internal import HTTP
internal import Protocols
internal import RPC
internal import Types

/// What the head of a request to a REST path says.
struct RESTMatch {
    let binding: RESTBinding
    /// What the request means; none if something is wrong with the head.
    let request: RESTRequest?
    /// What is wrong.
    let problem: RPCError?

    /// Finds the path; none if the request is RPC, or no path of the table fits.
    init?(_ head: HTTPHead, _ table: RESTTable, _ types: KnownTypes, limit: Int) {
        guard Classification(head).rpcProtocol == .http else { return nil }
        switch table.match(head.method, head.path) {
        case .none: return nil
        case .otherVerbs(let binding, let verbs):
            self.binding = binding
            request = nil
            let list = verbs.joined(separator: ", ")
            problem = RPCError(
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
                try head.setConnectTimeout()
                request = RESTRequest(binding: binding, parameters: parameters, types: types, limit: limit)
                problem = nil
            } catch {
                request = nil
                problem = error
            }
        }
    }
}

extension HTTPHead {
    private static let serverTimeout = FieldName("x-server-timeout")
    private static let connectTimeout = FieldName("connect-timeout-ms")
    private static let connectVersion = FieldName("connect-protocol-version")
    private static let accepts = ["accept", "accept-encoding", "content-encoding"].map { FieldName($0) }

    /// Writes the caller's time as Connect does: REST has it in seconds, with a fraction.
    fileprivate func setConnectTimeout() throws(RPCError) {
        remove(Self.connectTimeout)
        guard let index = first(Self.serverTimeout) else { return }
        let text = value(at: index).string
        guard let seconds = Double(text), seconds >= 0, text.utf8.allSatisfy({ "0123456789.".utf8.contains($0) }) else {
            throw RPCError(.invalidArgument, "x-server-timeout is not a number of seconds")
        }
        let milliseconds = Int(min(seconds, 9_999_999) * 1000)
        remove(Self.serverTimeout)
        add(Self.connectTimeout, Array("\(milliseconds)".utf8).span)
    }

    /// Makes the head of a request to a REST path that of a Connect call with JSON.
    func becomeConnect(_ method: MethodType) {
        setMethod(Array("POST".utf8).span)
        setTarget(method.path.span)
        let type = method.streams ? "application/connect+json" : "application/json"
        set(FieldName("content-type"), Array(type.utf8).span)
        set(Self.connectVersion, Array("1".utf8).span)
        for name in Self.accepts { remove(name) }
        contentLength = nil
    }
}
