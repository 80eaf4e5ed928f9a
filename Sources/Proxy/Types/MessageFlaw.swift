public import Documents
public import RPC
internal import Types

/// A reason why a message cannot be read as JSON.
public struct MessageFlaw: Sendable {
    /// The code for a caller whose request it is: the message is not valid, or takes too much memory.
    public let code: RPCCode
    /// The reason.
    public let text: String

    private init(isTooLarge: Bool, _ text: String) {
        (code, self.text) = (isTooLarge ? .resourceExhausted : .invalidArgument, text)
    }

    init(_ error: MessageError) { self.init(isTooLarge: error.reason == .tooLarge, error.description) }

    /// A flaw of a message in JSON.
    public init(_ error: JSONError) {
        let place = error.isTooLarge ? "" : ", line \(error.line), column \(error.column)"
        self.init(isTooLarge: error.isTooLarge, error.text + place)
    }

    /// Returns the error for a call whose message cannot be read.
    public func error(of message: Message) -> RPCError {
        RPCError(code, "message \(message.number) of the \(message.direction) cannot be read: \(text)")
    }

    /// Whether the message may be valid, but takes too much memory.
    public var isTooLarge: Bool { code == .resourceExhausted }
}
