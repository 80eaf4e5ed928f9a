internal import Bytes
public import RPC

/// Measures the messages of one direction of a call as they pass: how many there are, and how large.
///
/// A pure state machine: `announce` where a size is known beforehand, `add` for each piece of the body, then `end`. Sizes
/// are bytes on the wire, without envelope: compressed, if the messages are. Payloads are not looked at, except for
/// base64. Frames that end a stream are no messages; plain HTTP has none.
public struct MessageMeter: Sendable {
    /// The most bytes that one message may have.
    public let limit: Int
    /// What the envelopes tell; of use only where the protocol has them.
    private(set) var envelopes: EnvelopedBody
    let rpcProtocol: RPCProtocol
    private let direction: Direction
    private var bareBytes = 0
    private var bareAnnounced = 0
    private var hasEnded = false

    /// Makes a meter that has seen nothing.
    ///
    /// - Parameters:
    ///   - rpcProtocol: what the body is written in.
    ///   - direction: who sends it.
    ///   - limit: the most bytes that one message may have; none for no limit.
    public init(_ rpcProtocol: RPCProtocol, _ direction: Direction, limit: Int? = nil) {
        self.rpcProtocol = rpcProtocol
        self.direction = direction
        self.limit = limit ?? .max
        envelopes = EnvelopedBody(rpcProtocol, direction, limit: self.limit)
    }

    /// The number of messages that are complete.
    public var messages: Int {
        rpcProtocol.hasEnvelopes ? envelopes.messages : rpcProtocol.isUnaryConnect && hasEnded ? 1 : 0
    }

    /// The size of the largest message that came or was announced.
    public var largest: Int {
        rpcProtocol.hasEnvelopes ? envelopes.largest : max(bareBytes, bareAnnounced)
    }

    /// Whether a message is larger than the limit; known as soon as its size is announced.
    public var isOverLimit: Bool {
        largest > limit
    }

    /// Whether the body is no base64 where it should be: what it has behind the fault is not measured.
    public var isUnreadable: Bool { rpcProtocol == .grpcWebText && envelopes.isNoBase64 }

    /// What the caller is told about a message that is larger than the limit.
    public var overLimitError: RPCError {
        switch direction {
        case .request:
            RPCError(.resourceExhausted, "a request message exceeds limits.request_message (\(limit) bytes)")
        case .response:
            RPCError(.resourceExhausted, "a response message exceeds limits.response_message (\(limit) bytes)")
        }
    }

    /// Sees a size that the head tells: the `content-length` of a bare message, or that of a message in the query.
    ///
    /// Where messages have envelopes this tells nothing, and in plain HTTP there is no message.
    public mutating func announce(_ size: Int) {
        if rpcProtocol.isUnaryConnect { bareAnnounced = size }
    }

    /// Sees the next piece of the body, of any size.
    ///
    /// - Returns: whether the body is readable, and no message over the limit.
    @discardableResult
    public mutating func add(_ bytes: Span<UInt8>) -> Bool {
        if rpcProtocol.hasEnvelopes {
            envelopes.add(bytes)
        } else if rpcProtocol.isUnaryConnect {
            bareBytes += bytes.count
        }
        return !isOverLimit && !isUnreadable
    }

    /// Sees the proper end of the body; a bare message is complete with it, were it empty.
    public mutating func end() {
        hasEnded = true
    }
}
