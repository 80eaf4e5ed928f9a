internal import Bytes
internal import Configuration
internal import HTTP
internal import Protocols
internal import Types

/// A call that no connection brings, and where its response goes.
struct EnteredCall {
    let call: Call
    let stream: ExplainedStream
    private let rest: RESTRequestReader?
    /// The type of the method, as the call found it.
    let methodType: MethodType?
    let types: KnownTypes?
    let rpcProtocol: RPCProtocol
    let codec: Codec

    /// Makes the call of a request, as the listener would.
    init(_ request: RehearsedRequest, _ listener: CallerService, _ plan: Plan) {
        let head = request.head
        let peer = request.peer(of: plan.settings.listeners[request.listener])
        stream = ExplainedStream(Classification(head).rpcProtocol.upstreamSide.needsHTTP2 ? .http2 : .http1)
        let caller = stream
        rest = plan.types.flatMap { types in
            types.restTable.flatMap { RESTMatch(head, $0, types, limit: listener.heldMessageLimit) }
                .map { RESTRequestReader(caller, head, $0, types, from: peer, on: listener) }
        }
        call = rest?.call ?? Call(caller, head: head, end: request.messages.isEmpty, from: peer, on: listener)
        // The request is gone when the call is over.
        (methodType, types) = (call.methodType, plan.types)
        (rpcProtocol, codec) = (rest == nil ? call.rpcProtocol : .http, call.codec)
    }

    /// A message of the response as JSON where that is known, else as it is.
    func shown(_ payload: [UInt8]) -> [UInt8] {
        guard codec == .proto, let methodType, let types else { return payload }
        let output = ByteQueue()
        do throws(MessageError) {
            let limit = 64 << 20
            let type = methodType.response
            try MessageCodec().appendJSON(of: payload.span, type, types.set, types.form, limit: limit, to: output)
        } catch {
            return payload
        }
        return output.readable.array
    }

    /// Sends the request.
    func send(_ request: RehearsedRequest) {
        let hasBody = !request.messages.isEmpty
        if let rest {
            rest.start(end: !hasBody)
            let body = request.body(in: .http)
            rest.received(body: body.readable)
            if hasBody { rest.receivedEnd(trailers: nil) }
            return
        }
        call.start()
        guard hasBody, !call.isOver else { return }
        let body = request.body(in: call.rpcProtocol)
        call.received(body: body.readable)
        if !call.isOver { call.receivedEnd(trailers: nil) }
    }

    /// The interceptors that the call has entered.
    var interceptors: [String] {
        let links = call.run.chain.links
        return links.indices.filter { call.run.hasEntered($0) }.map { links[$0].name }
    }

    /// What of the call is not to be shown.
    var redactions: Redactions { call.run.chain.redactions }

    /// The caller leaves.
    func leave() {
        if !call.isOver { call.wasReset(.canceled) }
    }
}
