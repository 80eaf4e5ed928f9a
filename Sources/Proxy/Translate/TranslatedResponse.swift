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
    /// Whether messages are decompressed, because the caller does not list their compression.
    private(set) var isDecompressed = false
    /// The HTTP status.
    var status = 0
    private var held: ByteQueue?

    /// Creates the state before the head of a response.
    init(from upstream: RPCProtocol, codec: Codec, held: ByteQueue) {
        reader = upstream.upstreamSide.makeReader(codec: codec, messageLimit: nil, needsCodec: true)
        self.held = held
    }

    /// Begins to read the body that follows a head.
    ///
    /// - Parameters:
    ///   - head: The head.
    ///   - upstream: The protocol of the upstream.
    ///   - accepted: The compressions that the caller lists.
    ///   - needsMessages: Whether messages are needed whole even if the caller reads their compression.
    ///   - limit: The maximum number of bytes of a message.
    mutating func begin(
        _ head: HTTPHead,
        from upstream: RPCProtocol,
        _ accepted: ListedCompressions,
        needsMessages: Bool,
        limit: Int
    ) {
        reader.read(head, upstream)
        status = head.status
        compression = head.compression(upstream)
        let name = head.first(upstream.encodingField)
        if compression != .identity, let name { isDecompressed = !accepted.contains(head.value(at: name)) }
        guard upstream.hasEnvelopes, let held else { return }
        messages = MessageReader(
            upstream,
            .response,
            needsMessages: needsMessages || isDecompressed,
            messageLimit: limit,
            held: held,
            allowsCompressed: compression != .identity
        )
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
