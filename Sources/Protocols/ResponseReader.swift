internal import Bytes
public import RPC

/// Follows the upstream's response as it passes and concludes how the call went, for metrics and logs.
///
/// A pure state machine: `head`, then `body` for each piece, then `end`. It neither changes nor holds the response; of the
/// body it keeps only what names the outcome, 64 KiB at most. Not for a response that is cut off before its end.
public struct ResponseReader: Sendable {
    private enum Watch {
        /// The body tells nothing more.
        case nothing
        /// The body is the JSON of an error.
        case error
        /// The body is the messages of a success, or a run of envelopes that tells whether it is one.
        case messages
    }

    private let rpcProtocol: RPCProtocol
    private let codec: Codec
    private let needsCodec: Bool
    private var watch = Watch.nothing
    /// The outcome if nothing that follows names another.
    private var fallback = RPCCode.unknown
    private var compression = Compression.identity
    private var hasBody = false
    private var headerStatus: GRPCStatus?
    private var error = Capture()
    private var meter: MessageMeter
    private var decompressedEnd: [UInt8]?

    /// Makes a reader for the response to a call.
    ///
    /// - Parameters:
    ///   - rpcProtocol: what the caller speaks.
    ///   - codec: how the caller's messages are written.
    ///   - messageLimit: the most bytes that one message may have; none for no limit.
    ///   - needsCodec: whether Martlet reads the messages or names their codec again, so that it has to be this one.
    @inline(__always)
    public init(rpcProtocol: RPCProtocol, codec: Codec, messageLimit: Int? = nil, needsCodec: Bool = false) {
        // Inlined: each call makes one, and it is large to hand over.
        self.rpcProtocol = rpcProtocol
        self.codec = codec
        self.needsCodec = needsCodec
        meter = MessageMeter(rpcProtocol, .response, limit: messageLimit)
    }

    /// The number of messages that are complete.
    ///
    /// Changes nothing; it is mutating so that a reader that an object holds is asked in its place, and not copied first.
    public var messages: Int {
        mutating get { meter.messages }
    }

    /// Whether a message is larger than the limit; known as soon as its size is announced.
    public var isOverLimit: Bool { meter.isOverLimit }

    /// What the caller is told about a message that is larger than the limit.
    public var overLimitError: RPCError { meter.overLimitError }

    /// Whether the body is the messages of a success, or a run of envelopes that tells whether it is one.
    public var hasMessages: Bool { watch == .messages }

    /// What the body is written in, where it has messages: text may be answered in binary.
    public var bodyProtocol: RPCProtocol { meter.rpcProtocol }

    /// Whether the body stands between two messages, or is whole.
    public var canEnd: Bool { watch == .messages && rpcProtocol.hasEnvelopes && meter.envelopes.canEnd }

    /// Whether an end of our own may be put behind the body: it stands between two messages, and has no end yet.
    public var lacksEnd: Bool { canEnd && meter.envelopes.endFlags == nil }

    /// Whether all of the body so far is of messages, so that nothing of it has to do with its end.
    ///
    /// Not for text in base64.
    public var isOfMessages: Bool { watch == .messages && meter.envelopes.isOfMessages }

    /// Whether the body is whole, and its last frame tells of success, in Connect of nothing else.
    public var isWholeSuccess: Bool {
        guard meter.envelopes.endFlags != nil, isIntact else { return false }
        return if case .code(.ok, _) = rpcProtocol == .connectStream ? streamEnd : webEnd { true } else { false }
    }

    /// How many bytes of the piece of the body that was seen last are of messages, up to the end of one of them.
    public var messagesEnd: Int { meter.envelopes.messagesEnd }

    /// Where in its envelopes that piece stood there.
    public var start: EnvelopeScanner { meter.envelopes.start }

    /// Whether the frame that ends the body had come before that piece.
    public var startsBehindEnd: Bool { meter.envelopes.startsBehindEnd }

    /// How many bytes of the piece of the body that was seen last belong to messages that are complete.
    public var complete: Int { rpcProtocol == .grpcWebText ? 0 : meter.envelopes.complete }

    /// Sees the head, after any interim (1xx) ones.
    ///
    /// - Parameters:
    ///   - status: the HTTP status.
    ///   - contentType: the value of `content-type`, if there is one.
    ///   - compression: what the field says that tells how the protocol's messages are compressed.
    ///   - grpcStatus: the value of `grpc-status`, if there is one.
    ///   - grpcMessage: the value of `grpc-message`, if there is one.
    ///   - contentLength: the size of the body, if the head tells it.
    public mutating func head(
        status: Int,
        contentType: Span<UInt8>?,
        compression: Compression,
        grpcStatus: Span<UInt8>? = nil,
        grpcMessage: Span<UInt8>? = nil,
        contentLength: Int? = nil
    ) {
        self.compression = compression
        headerStatus = GRPCStatus(status: grpcStatus, message: grpcMessage)
        let type = MediaType(contentType)
        if rpcProtocol == .http || status != 200 {
            fallback = rpcProtocol == .http && status < 400 ? .ok : RPCCode(inferredFromStatus: status)
            if rpcProtocol.isUnaryConnect, type.isJSON { expectError() }
        } else if let error = type.error(responding: rpcProtocol, in: codec, needsCodec: needsCodec) {
            fallback = error
        } else {
            expectMessages(type, contentLength)
        }
    }

    private mutating func expectError() {
        switch compression {
        case .identity: watch = .error
        case .unknown: fallback = .internal
        default: break
        }
    }

    private mutating func expectMessages(_ type: MediaType, _ contentLength: Int?) {
        watch = .messages
        switch rpcProtocol {
        case .connectUnary, .connectGet, .http: fallback = .ok
        case .connectStream: fallback = .internal
        case .grpc, .grpcWeb, .grpcWebText: fallback = .unknown
        }
        if compression == .unknown { fallback = .internal }
        if type.family == .grpcWeb { meter = MessageMeter(.grpcWeb, .response, limit: meter.limit) }
        if let contentLength { meter.announce(contentLength) }
    }

    /// Sees the next piece of the body, of any size.
    public mutating func body(_ bytes: Span<UInt8>) {
        if bytes.count > 0 { hasBody = true }
        switch watch {
        case .nothing: break
        case .error: error.add(bytes)
        case .messages: meter.add(bytes)
        }
    }

    /// Takes the frame that ends the body as it is when decompressed, where somebody has done that.
    public mutating func end(decompressed frame: Span<UInt8>) {
        decompressedEnd = frame.array
    }

    /// Concludes, once the response came to its proper end.
    ///
    /// - Parameters:
    ///   - trailerGRPCStatus: the value of `grpc-status` in the HTTP trailers, if there is one.
    ///   - trailerGRPCMessage: the value of `grpc-message` there, if there is one.
    ///   - hasTrailers: whether there are HTTP trailers, whatever they say.
    /// - Returns: how the call went.
    public mutating func end(
        trailerGRPCStatus: Span<UInt8>? = nil,
        trailerGRPCMessage: Span<UInt8>? = nil,
        hasTrailers: Bool = false
    ) -> Conclusion {
        if watch == .messages { meter.end() }
        if hasTrailers, rpcProtocol == .grpc { headerStatus = nil }
        switch rpcProtocol {
        case .http: return .code(fallback)
        case .connectUnary, .connectGet: return unaryEnd
        case .connectStream: return streamEnd
        case .grpc: return grpcEnd(GRPCStatus(status: trailerGRPCStatus, message: trailerGRPCMessage))
        case .grpcWeb, .grpcWebText: return webEnd
        }
    }

    private var unaryEnd: Conclusion {
        guard watch == .error, error.isWhole else { return .code(fallback) }
        return .json(error.bytes, fallback: fallback, isEndStream: false)
    }

    private var streamEnd: Conclusion {
        guard watch == .messages, isIntact, let flags = meter.envelopes.endFlags else { return .code(fallback) }
        let end = meter.envelopes.end
        if flags & Envelope.compressed != 0, decompressedEnd == nil {
            return .code(CompressedEnd.isSuccess(end.bytes.span) ? .ok : .unknown)
        }
        let bytes = decompressedEnd ?? end.bytes
        if bytes.span.equals("{}") { return .code(.ok) }
        guard decompressedEnd != nil || end.isWhole else { return .code(.unknown) }
        return .json(bytes, fallback: .unknown, isEndStream: true)
    }

    private var webEnd: Conclusion {
        guard let flags = meter.envelopes.endFlags, isIntact else { return grpcEnd(nil) }
        if flags & Envelope.compressed != 0, decompressedEnd == nil {
            return .code(CompressedEnd.isSuccess(meter.envelopes.end.bytes.span) ? .ok : .unknown)
        }
        let bytes = decompressedEnd ?? meter.envelopes.end.bytes
        return grpcEnd(GRPCStatus(lines: bytes.span))
    }

    /// Trailers win over the head, which counts only if there is nothing else; success needs a sound body.
    private func grpcEnd(_ trailers: GRPCStatus?) -> Conclusion {
        guard let status = trailers ?? (hasBody ? nil : headerStatus) else {
            return .code(watch == .messages && !isIntact ? .internal : fallback)
        }
        guard status.code == .ok else { return .code(status.code, message: status.message) }
        guard watch == .messages else { return .code(fallback) }
        return .code(isIntact ? .ok : .internal)
    }

    private var isIntact: Bool {
        guard meter.envelopes.canEnd, compression != .unknown else { return false }
        return compression != .identity || !meter.envelopes.hasCompressedMessage
    }
}
