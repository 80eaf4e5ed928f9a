internal import Bytes
internal import Compressors
internal import Events
internal import HTTP
internal import Protocols
internal import RPC
internal import Time
internal import Types

/// The request of a caller that has used a REST path, on its way to its call.
///
/// It stands between the stream of the connection and the call, which sees a Connect call with JSON: routes, the chain and the
/// translation for the upstream know of nothing else. The way back is that of ``RESTStream``.
final class RESTCaller: HTTPStreamUser {
    private let call: Call
    private let stream: RESTStream
    /// What the request means; none once it has gone.
    private var request: RESTRequest?
    private let contentType: [UInt8]
    private let compression: Compression
    private var body: ByteQueue?
    private var bodyCame = Instant.max

    /// Opens the call of a request, if its path is one that the types have.
    ///
    /// - Parameters:
    ///   - stream: the stream of the request.
    ///   - head: its head, which becomes that of a Connect call.
    ///   - end: whether nothing follows the head.
    ///   - peer: who calls.
    ///   - listener: where the request has come.
    ///   - types: the types.
    ///   - table: their paths.
    /// - Returns: who uses the stream; none for a request that is no such call.
    static func open(
        _ stream: any HTTPStream,
        head: HTTPHead,
        end: Bool,
        from peer: Peer,
        on listener: CallerService,
        _ types: KnownTypes,
        _ table: RESTTable
    ) -> RESTCaller? {
        guard let match = RESTMatch(head, table, types, limit: listener.heldMessageLimit) else { return nil }
        let caller = RESTCaller(stream, head, match, from: peer, on: listener)
        if let problem = match.problem {
            caller.call.fail(problem, by: .martlet)
        } else {
            caller.call.start()
        }
        if end { caller.receivedEnd(trailers: nil) }
        return caller
    }

    private init(
        _ stream: any HTTPStream,
        _ head: HTTPHead,
        _ match: RESTMatch,
        from peer: Peer,
        on listener: CallerService
    ) {
        let type = head.first(.contentType)
        contentType = type.map { head.value(at: $0).array } ?? []
        let encoding = head.first(Self.contentEncoding)
        compression = encoding.map { Compression(name: head.value(at: $0)) } ?? .identity
        request = match.request
        let types = listener.worker.generation.types
        self.stream = RESTStream(stream, match.binding, types, head, listener)
        head.becomeConnect(match.binding.method)
        call = Call(self.stream, head: head, end: false, from: peer, on: listener, rest: match.binding)
    }

    private var worker: Worker { call.worker }

    // MARK: HTTPStreamUser

    func received(informational head: HTTPHead) {}
    func received(head: HTTPHead, end: Bool) {}

    func received(body bytes: Span<UInt8>) {
        guard let request, !call.isOver else { return }
        let queue = body ?? worker.acquireQueue()
        body = queue
        bodyCame = worker.context.loop.now
        guard queue.count + bytes.count <= request.limit else { return fail(tooLarge(request.limit)) }
        queue.append(bytes)
    }

    func receivedEnd(trailers: HTTPHead?) {
        guard let request, !call.isOver else { return }
        do throws(RPCError) {
            let message = try message(request)
            self.request = nil
            releaseBody()
            guard request.binding.method.streams else {
                call.received(body: message.span)
                return call.receivedEnd(trailers: nil)
            }
            let envelope = worker.acquireQueue()
            envelope.append(enveloping: message.span, flags: 0)
            call.received(body: envelope.readable)
            worker.release(envelope)
            call.receivedEnd(trailers: nil)
        } catch {
            fail(error)
        }
    }

    private func message(_ request: RESTRequest) throws(RPCError) -> [UInt8] {
        let (plain, codec, contentType) = (worker.acquireQueue(), worker.messageCodec, contentType)
        defer { worker.release(plain) }
        guard let body, compression != .identity else {
            let text = body ?? plain
            return try request.message(body: text.readable, contentType: contentType.span, with: codec)
        }
        guard Compressor.supports(compression) else {
            throw RPCError(.invalidArgument, "the content encoding of the body is unknown", httpStatus: 415)
        }
        do throws(DecompressionError) {
            try worker.compressor.decompress(body.readable, from: compression, into: plain, limit: request.limit)
        } catch {
            let isTooLarge = error == .overLimit
            throw isTooLarge ? tooLarge(request.limit) : RPCError(.invalidArgument, "the body cannot be decompressed")
        }
        return try request.message(body: plain.readable, contentType: contentType.span, with: codec)
    }

    private func tooLarge(_ limit: Int) -> RPCError {
        RPCError(.resourceExhausted, "the body exceeds limits.held_message (\(limit) bytes)", httpStatus: 413)
    }

    private func fail(_ error: RPCError) {
        request = nil
        releaseBody()
        call.failRequest(error)
    }

    private func releaseBody() {
        if let queue = body.take() { worker.release(queue) }
    }

    func wasReset(_ reason: HTTPReset) {
        request = nil
        releaseBody()
        call.wasReset(reason)
    }

    func drained() { call.drained() }
    var isBehind: Bool { call.isBehind }
    var heldBytes: Int { call.heldBytes + stream.responseBytes + (body?.capacity ?? 0) }
    var waitsSince: Instant { min(call.waitsSince, body == nil ? .max : bodyCame) }
    func releaseSpares() { call.releaseSpares() }
    func shed() { call.shed() }

    private static let contentEncoding = FieldName("content-encoding")
}
