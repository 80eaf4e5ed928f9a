internal import RPC

extension MessageReader {
    /// What the caller is told about an envelope that may not stand where it does, or announces too much.
    func flaw(of envelope: Envelope) -> RPCError? {
        if hasEnded { return broken("a message follows the end of the \(sender)") }
        if let error = rule.error(envelope.flags) { return error }
        guard needsMessages || isEnd(envelope.flags), Int(envelope.length) > limit else { return nil }
        let subject = isEnd(envelope.flags) ? "the end of the \(sender)" : "a \(sender) message"
        return RPCError(.resourceExhausted, "\(subject) exceeds limits.held_message (\(limit) bytes)")
    }

    /// What the caller is told about text that is not base64.
    var textFlaw: RPCError { broken("the body of the \(sender) is not valid base64") }

    private func broken(_ message: String) -> RPCError {
        RPCError(rule.direction == .request ? .invalidArgument : .internal, message)
    }

    private var sender: String { "\(rule.direction)" }
}
