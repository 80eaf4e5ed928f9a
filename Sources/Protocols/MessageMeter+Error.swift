public import RPC

extension MessageMeter {
    /// What is wrong with the whole body of a request that has to be one message; none if nothing is.
    ///
    /// Ask once the body has ended. A bare body is always one message.
    ///
    /// - Parameter compression: what the head said of how messages are compressed.
    /// - Returns: what the caller is to be told.
    public func errorOfOneMessage(compression: Compression) -> RPCError? {
        if isOverLimit { return overLimitError }
        guard rpcProtocol.hasEnvelopes else { return nil }
        if envelopes.hasUnknownFlags {
            return RPCError(.internal, "a request message has flags that are unknown in its protocol")
        }
        guard envelopes.canEnd else {
            return RPCError(.invalidArgument, "the body of the request does not consist of whole messages")
        }
        if compression == .identity, envelopes.hasCompressedMessage {
            return RPCError(.internal, "a request message is compressed, but no header names the compression")
        }
        guard messages == 1 else {
            return RPCError(.unimplemented, "the request has \(messages) messages, but the method takes one")
        }
        return nil
    }
}
