internal import Bytes
internal import Documents
internal import HTTP
internal import Protocols
internal import Proxy
internal import RPC

/// What is known of a response when rules are asked about it; more of it is, the further it has come.
struct ResponseFacts {
    /// How far the response has come.
    enum Phase { case head, message, end }

    /// How far it has come.
    let phase: Phase
    /// The outcome, once it is known.
    var code: RPCCode?
    /// Whether what the message holds is known: it has come, or there will be none.
    var isMessageKnown: Bool
    /// The message, if it is JSON.
    var view: MessageView?
    /// Whether there is nothing in the response, once that is known.
    var isEmpty: Bool?
    /// The trailers, once they have come.
    var trailers: HTTPHead?

    /// The head has come.
    init(head: HTTPHead, _ call: Call) {
        phase = .head
        code = call.upstreamError == nil ? Self.code(status: head.status, call.rpcProtocol) : call.ownCode
        isMessageKnown = call.upstreamError != nil
        trailers = call.rpcProtocol.isUnaryConnect ? call.responseTrailers : nil
    }

    /// The first message has come, which is all there is where messages are bare.
    init(message: Message, _ payload: Span<UInt8>, status: Int, _ call: Call) {
        phase = .message
        // The JSON of an error in unary Connect is no message.
        view =
            call.isErrorInJSON(status)
            ? (try? call.parsed(payload)).map { MessageView($0) } : message.view(payload, call)
        isMessageKnown = true
        isEmpty = payload.isEmpty
        trailers = call.rpcProtocol.isUnaryConnect ? call.responseTrailers : nil
        code = Self.code(status: status, call.rpcProtocol)
        guard code == nil, call.rpcProtocol.isUnaryConnect else { return }
        let name = view?.root["code"]?.string.flatMap { RPCCode(name: $0) }
        code = name.flatMap { $0 == .ok ? nil : $0 } ?? RPCCode(inferredFromStatus: status)
    }

    /// The end has come.
    init(end: ResponseEnd, _ view: MessageView?, isEmpty: Bool) {
        phase = .end
        code = end.code
        isMessageKnown = true
        self.view = view
        self.isEmpty = isEmpty
        trailers = end.trailers
    }

    /// The code, where the status tells it.
    private static func code(status: Int, _ rpcProtocol: RPCProtocol) -> RPCCode? {
        switch rpcProtocol {
        case .http: status < 400 ? .ok : RPCCode(inferredFromStatus: status)
        case .connectUnary, .connectGet: status == 200 ? .ok : nil
        case .connectStream, .grpc, .grpcWeb, .grpcWebText: nil
        }
    }
}

extension Call {
    /// Whether the body of a response with this status is the JSON of an error, and not a message.
    func isErrorInJSON(_ status: Int) -> Bool { rpcProtocol.isUnaryConnect && status != 200 }
}
