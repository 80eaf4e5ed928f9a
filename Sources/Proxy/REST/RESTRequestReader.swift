internal import Bytes
internal import Compressors
internal import Events
internal import HTTP
internal import Protocols
internal import RPC
internal import Time
internal import Types

/// Reads the request of a caller that has used a REST path, for its call.
///
/// It stands between the stream of the connection and the call, which sees a Connect call with JSON: routes, the chain and the
/// translation for the upstream know of nothing else. The way back is that of ``RESTResponseStream``.
final class RESTRequestReader: HTTPStreamUser {
    let call: Call
    private let stream: RESTResponseStream
    /// What the request means; none once it has gone.
    private var request: RESTRequest?
    private let contentType: [UInt8]
    private let compression: Compression
    private var body: ByteQueue?
    private var bodyCame = Instant.max

    /// Makes the call of a request to a REST path.
    ///
    /// - Parameters:
    ///   - stream: the stream of the request.
    ///   - head: its head, which becomes that of a Connect call.
    ///   - match: what the head says.
    ///   - types: the types.
    ///   - peer: who calls.
    ///   - listener: where the request has come.
    init(
        _ stream: any HTTPStream,
        _ head: HTTPHead,
        _ match: RESTMatch,
        _ types: KnownTypes,
        from peer: Peer,
        on listener: CallerService
    ) {
        contentType = head.first(.contentType).map { head.value(at: $0).array } ?? []
        let encoding = head.first(RESTResponseStream.contentEncoding)
        compression = encoding.map { Compression(name: head.value(at: $0)) } ?? .identity
        request = match.request
        self.stream = RESTResponseStream(stream, match, types, head, listener)
        let (httpMethod, path) = (head.method.array, head.path.array)
        head.becomeConnect(match)
        let rest = CallerLeg.REST(stream: self.stream, httpMethod: httpMethod, path: path, error: match.error)
        call = Call(self.stream, head: head, end: false, from: peer, on: listener, rest: rest)
        self.stream.call = call
    }

    /// Starts the call; `end` says that the request has no body.
    func start(end: Bool) {
        call.start()
        if end { receivedEnd(trailers: nil) }
    }

    private var worker: Worker { call.worker }

    // MARK: HTTPStreamUser

    func received(informational head: HTTPHead) {}
    func received(head: HTTPHead, end: Bool) {}

    func received(body bytes: Span<UInt8>) {
        // What a response of our own makes needless is thrown away.
        guard let request, call.acceptsRequest else { return }
        let queue = body ?? worker.acquireQueue()
        body = queue
        bodyCame = worker.context.loop.now
        guard queue.count + bytes.count <= request.limit else { return fail(tooLarge(request.limit)) }
        queue.append(bytes)
        stream.requestBytes = queue.count
    }

    func receivedEnd(trailers: HTTPHead?) {
        guard let request, !call.isOver else { return }
        guard call.acceptsRequest else { return call.receivedEnd(trailers: nil) }
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
        guard let body, !body.isEmpty else { return try message(request, Span()) }
        guard compression != .identity else { return try message(request, body.readable) }
        guard Compressor.supports(compression) else {
            var error = RPCError.unsupported("the content encoding of the body is unknown")
            error.httpStatus = 415
            throw error
        }
        let plain = try decompressed(body, limit: request.limit)
        return try message(request, plain.span)
    }

    private func decompressed(_ body: ByteQueue, limit: Int) throws(RPCError) -> [UInt8] {
        do throws(RPCError) {
            return try worker.decompressed(body.readable, from: compression, .request, limit: limit)
        } catch {
            guard error.code == .resourceExhausted else { throw error }
            throw tooLarge(limit)
        }
    }

    private func message(_ request: RESTRequest, _ body: Span<UInt8>) throws(RPCError) -> [UInt8] {
        let (contentType, isConverted) = (contentType, call.upstreamLeg.conversion != nil)
        return try request.message(
            body: body,
            contentType: contentType.span,
            isConverted: isConverted,
            on: worker
        )
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
        // Not before: a response may still have gone out.
        stream.finished()
    }

    func drained() { call.drained() }
    var isBehind: Bool { call.isBehind }
    var heldBytes: Int { call.heldBytes + stream.responseBytes + (body?.capacity ?? 0) }
    var waitsSince: Instant { min(call.waitsSince, stream.responseWaitsSince, body == nil ? .max : bodyCame) }

    func bodyWaitsSince(at now: Instant) -> Instant { call.bodyWaitsSince(at: now) }
    func wentUnread() { call.wentUnread() }
    func releaseSpares() { call.releaseSpares() }
    func shed() { call.shed() }
}
