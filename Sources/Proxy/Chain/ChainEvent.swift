internal import HTTP
internal import RPC

/// A direction in which a call goes through its chain.
enum Way {
    /// From the caller to the upstream: first to last.
    case request
    /// From the upstream to the caller: last to first.
    case response

    /// From one link to the next.
    var step: Int { self == .request ? 1 : -1 }
}

/// What goes through a chain.
enum ChainEvent {
    case requestHead
    case requestEnd
    /// `isLast` says that nothing comes behind the head, so that the trailers are in it.
    case responseHead(HTTPHead, isLast: Bool)
    case responseEnd(ResponseEnd)
    /// A message, on either way.
    case message(Message)
    /// Bytes of a body of which nobody wants to see the messages.
    case bytes

    /// What an interceptor asks for that is to see the event.
    func asked(_ way: Way) -> EventSet {
        switch self {
        case .requestHead: .requestHead
        case .requestEnd: .requestEnd
        case .responseHead: .responseHead
        case .responseEnd(let end): end.asked
        case .message: way == .request ? .requestMessages : .responseMessages
        case .bytes: []
        }
    }

    /// The outcome that it tells of.
    var code: UInt8? {
        if case .responseEnd(let end) = self { end.code.rawValue } else { nil }
    }

    /// Whether it is what an answer begins with.
    var isAnswerHead: Bool {
        if case .responseHead = self { true } else { false }
    }
}
