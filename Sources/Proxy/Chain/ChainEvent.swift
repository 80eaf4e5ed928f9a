internal import HTTP
internal import Protocols
internal import RPC

extension Direction {
    /// From one link of the chain to the next: requests go first to last, responses last to first.
    var step: Int { self == .request ? 1 : -1 }
}

/// What goes through a chain.
enum ChainEvent {
    case requestHead
    case requestEnd
    /// `isLast` says that nothing comes behind the head, so that the trailers are in it.
    case responseHead(HTTPHead, isLast: Bool)
    case responseEnd(ResponseEnd)
    /// A message, in either direction.
    case message(Message)
    /// Bytes of a body of which nobody wants to see the messages.
    case bytes

    /// What an event is called in logs.
    enum Label: String {
        case requestHead = "request_head"
        case requestMessage = "request_message"
        case requestEnd = "request_end"
        case responseHead = "response_head"
        case responseMessage = "response_message"
        case responseEnd = "response_end"
        case body
    }

    /// What it is called in logs.
    func label(_ direction: Direction) -> Label {
        switch self {
        case .requestHead: .requestHead
        case .requestEnd: .requestEnd
        case .responseHead: .responseHead
        case .responseEnd: .responseEnd
        case .message: direction == .request ? .requestMessage : .responseMessage
        case .bytes: .body
        }
    }

    /// What an interceptor asks for that is to see the event.
    func asked(_ direction: Direction) -> EventSet {
        switch self {
        case .requestHead: .requestHead
        case .requestEnd: .requestEnd
        case .responseHead(let head, let isLast):
            isLast || head.status != 200 ? [.responseHead, .errors] : .responseHead
        case .responseEnd(let end): end.asked
        case .message where direction == .request: .requestMessages
        case .message(let message):
            [message.form == .plain ? .plainBodies : .responseMessages, .responseBytes]
        case .bytes: direction == .response ? .responseBytes : []
        }
    }

    /// The outcome that it tells of.
    var code: UInt8? {
        if case .responseEnd(let end) = self { end.code.rawValue } else { nil }
    }

    /// Whether the hook that was called last wants it otherwise, where that is not told by a head.
    var isTouched: Bool {
        switch self {
        case .message(let message): message.isTouched
        case .responseEnd(let end): end.isNewlyReplaced
        default: false
        }
    }

    /// Whether it is what a request or a response begins with.
    var isHead: Bool {
        switch self {
        case .requestHead, .responseHead: true
        default: false
        }
    }

    /// Whether it is what a response begins with.
    var isResponseHead: Bool {
        if case .responseHead = self { true } else { false }
    }
}
