internal import RPC

/// The rule for the flags of an envelope, by the protocol and the direction of its body.
struct EnvelopeRule: Sendable {
    let direction: Direction
    /// The flag of the frame that ends the body; 0 if no frame does.
    let endFlag: UInt8
    /// Whether a message may be compressed: a header names the compression.
    let allowsCompressed: Bool

    init(_ rpcProtocol: RPCProtocol, _ direction: Direction, allowsCompressed: Bool) {
        (self.direction, self.allowsCompressed) = (direction, allowsCompressed)
        endFlag = rpcProtocol.endFlag(direction)
    }

    /// Returns whether the envelope is that of the frame that ends the body.
    func isEnd(_ flags: UInt8) -> Bool { flags & endFlag != 0 }

    /// Returns the error of flags that the body cannot have; `nil` if it can.
    ///
    /// The code is `internal`, as in gRPC's and Connect's own libraries: the sender's library is broken, not its request.
    func error(_ flags: UInt8) -> RPCError? {
        guard flags & ~(Envelope.compressed | endFlag) == 0 else {
            return RPCError(.internal, "a \(direction) message has flags that are unknown in its protocol")
        }
        guard flags & Envelope.compressed != 0, !allowsCompressed else { return nil }
        let subject = isEnd(flags) ? "the end of the \(direction)" : "a \(direction) message"
        return RPCError(.internal, "\(subject) is compressed, but no header names the compression")
    }
}
