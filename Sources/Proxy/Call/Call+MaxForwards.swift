internal import Bytes
internal import HTTP
internal import Protocols
internal import RPC

/// `Max-Forwards`, by which OPTIONS and TRACE ask the proxies on their way (RFC 9110 §7.6.2).
extension Call {
    private static let maxForwards = FieldName("max-forwards")
    /// The methods that a response to OPTIONS lists; Martlet forwards others as well.
    private static let allowed = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

    /// Counts this proxy in a request that says how many may forward it.
    ///
    /// Before the chain, so that each attempt sends the same. A value that is not a number is left as it is.
    func countForward() {
        let request = request
        guard let limit = forwardsLeft(of: request), limit > 0 else { return }
        let rest = Array("\(limit - 1)".utf8)
        request.set(Self.maxForwards, rest.span)
    }

    /// Whether Martlet is the last that gets the request.
    var endsHere: Bool { forwardsLeft(of: callerLeg.head) == 0 }

    private func forwardsLeft(of head: HTTPHead) -> Int? {
        let method = head.method
        guard method.equals("OPTIONS") || method.equals("TRACE"), let index = head.first(Self.maxForwards),
            head.first(Self.maxForwards, from: index + 1) == nil
        else { return nil }
        return head.value(at: index).decimal
    }

    /// Responds instead of the upstream.
    ///
    /// TRACE asks for its own request back, with the secrets that the chain has put in.
    func respondAsLast() {
        let request = request
        guard request.method.equals("OPTIONS") else {
            let problem = "Max-Forwards ends here, and Martlet does not respond to TRACE"
            let allow = [("allow", Self.allowed)]
            return fail(RPCError(.unimplemented, problem, metadata: allow, httpStatus: 405), by: .martlet)
        }
        record.decider = .martlet
        let allow = (name: Array("allow".utf8), value: Array(Self.allowed.utf8))
        send(LocalResponse(status: 200, headers: [allow], body: []), Outcome(code: .ok), before: run.chain.links.count)
    }
}
