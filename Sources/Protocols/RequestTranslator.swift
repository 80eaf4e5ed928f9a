public import Bytes
public import RPC

/// Turns the body of a request into one of envelopes, as gRPC, gRPC-Web and Connect streams have it.
///
/// A pure state machine: `begin`, then `add` for each piece, then `end`. Belongs to one thread.
public struct RequestTranslator {
    private enum Form {
        /// The envelopes are there.
        case envelopes
        /// They are there in base64.
        case text(Base64Decoder)
        /// A bare message, whose length has been said.
        case sized
        /// A bare message, which is held until it is whole.
        case held(ByteQueue)
    }

    private var form: Form
    /// Finds the envelopes that the caller has written, so that none passes that means something else to the upstream.
    private var scanner = EnvelopeScanner()
    private let rule: EnvelopeRule
    private let flags: UInt8
    private let limit: Int

    /// Makes a translator.
    ///
    /// - Parameters:
    ///   - caller: what the caller speaks; not a protocol without messages.
    ///   - isCompressed: whether a bare message is compressed, and one in an envelope may be.
    ///   - length: the length of a bare message in bytes, if that has been said.
    ///   - limit: the most bytes that a bare message may have whose length has not been said.
    ///   - held: gives an empty queue for such a message.
    public init(from caller: RPCProtocol, isCompressed: Bool, length: Int?, limit: Int, held: () -> ByteQueue) {
        flags = isCompressed ? Envelope.compressed : 0
        self.limit = limit
        rule = EnvelopeRule(caller, .request, allowsCompressed: isCompressed)
        form =
            switch caller {
            case .connectStream, .grpc, .grpcWeb: .envelopes
            case .grpcWebText: .text(Base64Decoder())
            case .connectUnary, .connectGet, .http:
                length.flatMap(UInt32.init(exactly:)) == nil ? .held(held()) : .sized
            }
    }

    /// Whether the body stays as it is behind what `begin` puts before it.
    public var passes: Bool {
        switch form {
        case .envelopes, .sized: true
        case .text, .held: false
        }
    }

    /// Whether the body may have no bytes: that of a bare message has an envelope in any case.
    public var mayBeEmpty: Bool {
        switch form {
        case .envelopes, .text: true
        case .sized, .held: false
        }
    }

    /// How many bytes are set aside.
    public var heldBytes: Int {
        if case .held(let queue) = form { queue.capacity } else { 0 }
    }

    /// Appends what stands before a bare message of `length` bytes, if that has been said; one without bytes is not compressed.
    public func begin(length: Int?, into output: ByteQueue) {
        guard case .sized = form, let length else { return }
        output.append(Envelope(flags: length == 0 ? 0 : flags, length: UInt32(clamping: length)))
    }

    /// Checks the next piece of a body that passes.
    ///
    /// - Throws: The error of an envelope that the caller's protocol does not allow.
    public mutating func check(_ bytes: Span<UInt8>) throws(RPCError) {
        guard case .envelopes = form else { return }
        try checkEnvelopes(bytes)
    }

    private mutating func checkEnvelopes(_ bytes: Span<UInt8>) throws(RPCError) {
        var position = 0
        while let event = scanner.next(in: bytes, from: &position) {
            if case .envelope(let envelope) = event, let error = rule.error(envelope.flags) { throw error }
        }
    }

    /// Takes the next piece of the body, and appends what can go.
    ///
    /// - Throws: what the caller is told about a body that is no base64, about an envelope that its protocol does not allow,
    ///   or about a message that is too large to be held.
    public mutating func add(_ bytes: Span<UInt8>, into output: ByteQueue) throws(RPCError) {
        switch form {
        case .envelopes:
            try checkEnvelopes(bytes)
            output.append(bytes)
        case .sized: output.append(bytes)
        case .text(var decoder):
            let start = output.count
            for index in bytes.indices {
                if let byte = decoder.next(bytes[index]) { output.append(byte: byte) }
            }
            form = .text(decoder)
            guard decoder.isValid else { throw Self.textFlaw }
            try checkEnvelopes(output.readable.extracting(start...))
        case .held(let queue):
            guard queue.count + bytes.count <= limit else {
                throw RPCError(
                    .resourceExhausted,
                    "a request message exceeds limits.held_message (\(limit) bytes)"
                )
            }
            queue.append(bytes)
        }
    }

    /// The body has ended: appends what has waited for that.
    ///
    /// - Throws: what the caller is told about base64 or a message that breaks off.
    public mutating func end(into output: ByteQueue) throws(RPCError) {
        guard scanner.isBetweenMessages else {
            throw RPCError(.invalidArgument, "the request ends in the middle of a message")
        }
        switch form {
        case .envelopes, .sized: break
        case .text(let decoder): guard decoder.canEnd else { throw Self.textFlaw }
        case .held(let queue):
            output.append(enveloping: queue.readable, flags: queue.isEmpty ? 0 : flags)
            queue.removeAll()
        }
    }

    private static let textFlaw = RPCError(.invalidArgument, "the body of the request is not valid base64")
}
