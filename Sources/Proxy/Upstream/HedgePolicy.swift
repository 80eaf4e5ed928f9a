internal import Bytes
internal import Configuration
internal import HTTP
internal import Protocols
internal import RPC
internal import Time
internal import Types

/// Which calls of an upstream may be sent to several addresses at once, and when (gRFC A6).
struct HedgePolicy {
    /// How long a response is waited for before the next attempt.
    let pause: Duration
    /// How many attempts more a call has at most.
    let max: Int
    private let methods: [MethodPattern]
    /// What other addresses may do better: such ends of a call, and such statuses.
    private let codes: [RPCCode]
    private let statuses: [Int]

    /// Compiles the settings of an upstream; none if it has none.
    init?(_ settings: UpstreamAddressSettings) {
        guard let hedge = settings.hedge, settings.isBalanced else { return nil }
        (pause, max) = (hedge.pause, hedge.max)
        methods = hedge.methods
        codes = settings.ejection?.codes.compactMap { RPCCode(name: $0) } ?? [.unavailable]
        statuses = settings.ejection?.statuses ?? [502, 503, 504]
    }

    /// Whether doing the call twice changes nothing, as far as its method tells.
    func allows(_ call: Call) -> Bool {
        let request = call.request
        switch call.rpcProtocol {
        case .http: return request.method.equals("GET") || request.method.equals("HEAD")
        case .connectGet: return true
        default: return call.isOf(methods) || call.hasNoSideEffects
        }
    }

    /// Whether a call that has ended like this might end better elsewhere.
    func isFailure(_ code: RPCCode) -> Bool { codes.contains(code) }

    /// Whether a response that begins like this is such an end.
    ///
    /// The code of an error of unary Connect is in the body, and its HTTP status tells which it may be.
    func isFailure(_ head: HTTPHead, in rpcProtocol: RPCProtocol) -> Bool {
        if let index = head.first(.grpcStatus) { return isFailure(RPCCode(grpcStatus: head.value(at: index))) }
        guard head.status != 200, !statuses.contains(head.status) else { return head.status != 200 }
        guard rpcProtocol.isUnaryConnect else {
            return rpcProtocol != .http && isFailure(RPCCode(inferredFromStatus: head.status))
        }
        return codes.contains { $0.httpStatus == head.status }
    }
}
