public import Bytes
public import RPC

/// Lets the one message of an enveloped body out of its envelope, as unary Connect has it.
///
/// A `RequestTranslator` has checked the envelopes, and that the last one is whole.
///
/// A pure state machine: `add` for each piece, then `end`. Belongs to one thread.
public struct MessageExtractor: Sendable {
    private var scanner = EnvelopeScanner()
    /// The envelope of the message, when it has come.
    public private(set) var envelope: Envelope?

    /// Makes one that stands before the envelope.
    public init() {}

    /// Takes the next piece of the body, and appends what is of the message.
    ///
    /// - Throws: what the caller is told about a second message.
    public mutating func add(_ bytes: Span<UInt8>, into output: ByteQueue) throws(RPCError) {
        var position = 0
        while let event = scanner.next(in: bytes, from: &position) {
            switch event {
            case .envelope(let found):
                guard envelope == nil else {
                    throw RPCError(.unimplemented, "the request has more than one message, but the call is unary")
                }
                envelope = found
            case .payload(let range, _): output.append(bytes.extracting(range))
            }
        }
    }

    /// The body has ended.
    ///
    /// - Throws: what the caller is told about a body without a message.
    public func end() throws(RPCError) {
        guard envelope != nil else {
            throw RPCError(.unimplemented, "the request has no message, but the call is unary")
        }
    }
}
