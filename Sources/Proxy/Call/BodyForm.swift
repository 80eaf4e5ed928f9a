internal import Protocols

/// How a body is looked at on its way through the chain.
enum BodyForm {
    /// Not at all: its bytes pass as they come.
    case bytes
    /// Envelope by envelope.
    case framed
    /// As bytes, until there is something in a response that is no message: then envelope by envelope.
    case tailed
    /// As one bare message, which is held until it is whole.
    case bare
    /// Likewise, where it is none of RPC; one that is too large passes as it comes.
    case plain

    /// Whether the body is held until it is whole.
    var isWhole: Bool { self == .bare || self == .plain }

    /// The form in which messages are found, if they are wanted; plain HTTP has none.
    init(_ needsMessages: Bool, _ rpcProtocol: RPCProtocol) {
        switch rpcProtocol {
        case .http: self = .bytes
        case _ where !needsMessages: self = .bytes
        case .connectUnary, .connectGet: self = .bare
        case .connectStream, .grpc, .grpcWeb, .grpcWebText: self = .framed
        }
    }
}
