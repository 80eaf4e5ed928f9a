internal import Bytes
internal import Compressors
internal import HTTP
internal import Protocols
internal import RPC

/// The response to a call of a command: finds its messages, and how it ends.
struct RPCCallResponse {
    private let rpcProtocol: RPCProtocol
    private let limit: Int
    private let expectsOneMessage: Bool
    private var reader: ResponseReader
    private var messages: MessageReader
    private let compressor = Compressor()
    private var compression = Compression.identity
    /// A body that is not in envelopes.
    private var body: [UInt8] = []
    /// The trailers, wherever they stand.
    private let trailers = HTTPHead()
    /// The HTTP status; 0 before the head.
    private(set) var status = 0

    /// Reads the response to a request; `limit` is the most bytes of a message.
    init(_ request: RPCRequest, limit: Int) {
        rpcProtocol = request.rpcProtocol
        self.limit = limit
        expectsOneMessage = request.expectsOneMessage
        reader = rpcProtocol.upstreamSide.makeReader(codec: request.codec, messageLimit: limit, needsCodec: true)
        messages = Self.reader(rpcProtocol, limit, allowsCompressed: false)
    }

    private static func reader(_ rpcProtocol: RPCProtocol, _ limit: Int, allowsCompressed: Bool) -> MessageReader {
        MessageReader(
            rpcProtocol,
            .response,
            needsMessages: true,
            messageLimit: limit,
            held: ByteQueue(),
            allowsCompressed: allowsCompressed
        )
    }

    /// The head has come.
    ///
    /// - Throws: what is wrong with it.
    mutating func receive(_ head: HTTPHead) throws(RPCError) {
        reader.read(head, rpcProtocol)
        status = head.status
        compression = head.compression(rpcProtocol)
        messages = Self.reader(rpcProtocol, limit, allowsCompressed: compression != .identity)
        if rpcProtocol.isUnaryConnect {
            try ConnectEnd.moveTrailers(of: head, to: trailers)
        } else {
            head.moveTrailers(to: trailers)
        }
    }

    /// A piece of the body has come.
    ///
    /// - Parameters:
    ///   - bytes: the piece.
    ///   - onMessage: gets the messages that are whole.
    /// - Throws: what is wrong with the response.
    mutating func receive(_ bytes: Span<UInt8>, _ onMessage: (Span<UInt8>) -> Void) throws(RPCError) {
        reader.body(bytes)
        guard rpcProtocol.hasEnvelopes, reader.hasMessages else {
            guard body.count + bytes.count <= limit else { throw tooLarge }
            body += bytes.array
            return
        }
        var position = 0
        while let event = messages.next(in: bytes, from: &position) {
            switch event {
            case .message(let flags, let location):
                let payload = try plain(messages.bytes(at: location, in: bytes), flags & Envelope.compressed != 0)
                onMessage(payload.readable)
            case .end(let flags, let location):
                let payload = try plain(messages.bytes(at: location, in: bytes), flags & Envelope.compressed != 0)
                reader.end(decompressed: payload.readable)
                trailers.removeOutcomeFields()
                let isConnect = rpcProtocol.family == .connect
                let fields =
                    isConnect ? ConnectEnd.metadata(payload.readable) : TrailerLines.fields(of: payload.readable)
                try trailers.add(foreign: fields ?? [])
            case .pass: break
            case .error(let error): throw error.code == .resourceExhausted ? tooLarge : error
            }
        }
    }

    /// The response is whole.
    ///
    /// - Parameters:
    ///   - arrived: the trailers of HTTP.
    ///   - onMessage: gets a message that has no envelope.
    /// - Returns: how the call has ended.
    /// - Throws: what is wrong with the response.
    mutating func end(_ arrived: HTTPHead?, _ onMessage: (Span<UInt8>) -> Void) throws(RPCError) -> TranslatedEnd {
        var conclusion = if let arrived { reader.end(trailers: arrived) } else { reader.end() }
        guard rpcProtocol.family == .connect else {
            if let arrived, rpcProtocol == .grpc { trailers.replaceOutcome(by: arrived) }
            let messages = expectsOneMessage ? reader.messages : nil
            return TranslatedEnd(conclusion, trailers: trailers, status: status, messages: messages)
        }
        if rpcProtocol.isUnaryConnect {
            let payload = try plain(body.span, compression != .identity)
            let code = conclusion.code(fromName: nil)
            if code == .ok {
                onMessage(payload.readable)
            } else {
                conclusion = .json(payload.readable.array, fallback: code, isEndStream: false)
            }
        }
        let error = ConnectEnd.error(conclusion, status: status)
        return TranslatedEnd(connect: error, trailers: trailers)
    }

    private func plain(_ payload: Span<UInt8>, _ isCompressed: Bool) throws(RPCError) -> ByteQueue {
        let output = ByteQueue()
        guard isCompressed else {
            output.append(payload)
            return output
        }
        guard Compressor.supports(compression) else {
            throw RPCError(.internal, "the response is compressed in a way that Martlet does not know")
        }
        do throws(DecompressionError) {
            try compressor.decompress(payload, from: compression, into: output, limit: limit)
        } catch {
            throw error == .overLimit ? tooLarge : RPCError(.internal, "the response cannot be decompressed")
        }
        return output
    }

    private var tooLarge: RPCError { RPCError(.resourceExhausted, "a message of the response exceeds \(limit) bytes") }
}
