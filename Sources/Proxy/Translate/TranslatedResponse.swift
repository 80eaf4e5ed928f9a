internal import Bytes
internal import HTTP
internal import Protocols
internal import RPC

/// How far the response of an upstream has come on its way into the protocol of the caller.
struct TranslatedResponse {
    /// Concludes how the call went, by what the upstream speaks.
    var reader: ResponseReader
    /// Finds the messages and the frame that ends them.
    var messages: MessageReader?
    /// The head, while it waits for the end.
    var head: HTTPHead?
    /// The message of a response that has one, while it waits for the end.
    var message: ByteQueue?
    var isCompressed = false
    /// The trailers that have come, in the head or in the frame that ends the body.
    var trailers: HTTPHead?
    /// How the messages are compressed that are marked so.
    var compression = Compression.identity
    /// The HTTP status.
    var status = 0
    private var held: ByteQueue?

    /// Makes the state of a response whose messages are told whole if `needsMessages`.
    init(from upstream: RPCProtocol, codec: Codec, needsMessages: Bool, limit: Int, held: ByteQueue) {
        reader = upstream.upstreamSide.makeReader(codec: codec, messageLimit: nil)
        messages = MessageReader(upstream, .response, needsMessages: needsMessages, messageLimit: limit, held: held)
        self.held = held
    }

    /// How many bytes are set aside; mutating so that it is asked in its place, and not copied first.
    var heldBytes: Int {
        mutating get { (held?.capacity ?? 0) + (message?.capacity ?? 0) }
    }

    /// Gives back what is set aside: nothing more comes.
    mutating func release(to context: WireContext) {
        messages = nil
        if let head = head.take() { context.release(head) }
        if let head = trailers.take() { context.release(head) }
        if let queue = held.take() { context.release(queue) }
        if let queue = message.take() { context.release(queue) }
    }
}
