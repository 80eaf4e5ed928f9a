internal import Bytes
internal import Protocols
internal import RPC

/// Converts the messages of a request, which come in envelopes.
struct RequestConverter {
    private var messages: MessageReader
    private let conversion: MessageConversion
    private let compression: Compression

    /// Makes a converter; `held` is an empty queue for a message that comes in pieces.
    init(_ conversion: MessageConversion, _ compression: Compression, limit: Int, held: ByteQueue) {
        messages = MessageReader(
            .grpc,
            .request,
            needsMessages: true,
            messageLimit: limit,
            held: held,
            allowsCompressed: compression != .identity
        )
        self.conversion = conversion
        self.compression = compression
    }

    /// Whether the request may end here.
    var canEnd: Bool { messages.isBetweenMessages }

    /// How many bytes are set aside.
    var heldBytes: Int { messages.heldBytes }

    /// Takes a piece of the body, and appends the messages that are whole.
    ///
    /// - Throws: what the caller is told about a message that cannot be converted.
    mutating func add(_ bytes: Span<UInt8>, on worker: Worker, into output: ByteQueue) throws(RPCError) {
        var position = 0
        while let event = messages.next(in: bytes, from: &position) {
            switch event {
            case .message(let flags, let location):
                let compression = flags & Envelope.compressed == 0 ? .identity : compression
                let message = worker.acquireQueue()
                defer { worker.release(message) }
                let payload = messages.bytes(at: location, in: bytes)
                try conversion.append(payload, compression, .request, on: worker, to: message)
                output.append(enveloping: message.readable, flags: 0)
            case .error(let error): throw error
            case .pass, .end: break
            }
        }
    }
}
