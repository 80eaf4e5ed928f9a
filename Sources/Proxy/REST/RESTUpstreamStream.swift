internal import Bytes
internal import Compressors
internal import Documents
internal import Events
internal import HTTP
internal import Protocols
internal import RPC
internal import Time
internal import Types

/// An exchange with an upstream that speaks REST, for a user that speaks Connect with one JSON message each way.
///
/// It stands next to the connection: what the caller speaks has become Connect before. Both sides let go of it as they do of an
/// HTTPStream.
final class RESTUpstreamStream: HTTPStream, HTTPStreamUser {
    private let user: any AttemptStreamUser
    private let bindings: [RESTBinding]
    private let types: KnownTypes
    /// Whether the response is converted for the caller, which reads it.
    private let isConverted: Bool
    private let worker: Worker
    private let limit: Int
    private var stream: (any HTTPStream)?
    /// The head of the request, while its message is not whole.
    private var head: HTTPHead?
    private var message: ByteQueue?
    /// The path that the request has gone to.
    private var binding: RESTBinding?
    /// The response, while it is not whole.
    private var response: (head: HTTPHead, body: ByteQueue)?
    private var heldSince = Instant.max
    private var isOver = false
    /// When the head of the request has come, whose time runs since then.
    private var headCame = Instant.start

    /// Opens a stream on the connection; none if it cannot have another.
    init?(
        for user: any AttemptStreamUser,
        _ bindings: [RESTBinding],
        _ types: KnownTypes,
        of call: Call,
        on connection: UpstreamConnection
    ) {
        (self.user, self.bindings, self.types) = (user, bindings, types)
        isConverted = call.upstreamLeg.conversion != nil
        worker = call.worker
        limit = call.callerLeg.listener.heldMessageLimit
        stream = connection.open(for: self, of: call)
        if stream == nil { return nil }
    }

    // MARK: The request

    func send(head: HTTPHead, end: Bool) {
        headCame = worker.context.loop.now
        let copy = worker.acquireHead()
        copy.copy(head)
        self.head = copy
        message = worker.acquireQueue()
        user.holds(copy)
        if end { sendEnd(trailers: nil) }
    }

    func send(body: Span<UInt8>) {
        guard let message else { return }
        heldSince = worker.context.loop.now
        guard message.count + body.count <= limit else {
            return fail(
                .untranslatedRequest(
                    RPCError(.resourceExhausted, "the request exceeds limits.held_message (\(limit) bytes)")
                )
            )
        }
        message.append(body)
    }

    func sendEnd(trailers: HTTPHead?) {
        guard let head = head.take(), let message = message.take() else { return }
        heldSince = .max
        defer {
            worker.release(head)
            worker.release(message)
        }
        do throws(RPCError) {
            let json = try canonical(worker.plainBody(message, of: head, .request, limit: limit))
            let (binding, target) = try target(of: json)
            self.binding = binding
            try head.becomeREST(binding, target, after: worker.context.loop.now - headCame)
            stream?.send(head: head, end: target.body == nil)
            if let body = target.body {
                if !body.isEmpty { stream?.send(body: body.span) }
                stream?.sendEnd(trailers: nil)
            }
        } catch {
            fail(.untranslatedRequest(error))
        }
    }

    /// The first path that has a place for the whole message.
    private func target(of json: JSONValue) throws(RPCError) -> (RESTBinding, RESTTarget) {
        var first: RPCError?
        for binding in bindings {
            do throws(RPCError) {
                return (binding, try RESTTarget(binding, json))
            } catch {
                first = first ?? error
            }
        }
        throw first ?? RPCError(.unimplemented, "the method has no path")
    }

    /// The message of the request as Martlet writes it: each field once, by its name in JSON.
    private func canonical(_ json: [UInt8]) throws(RPCError) -> JSONValue {
        let text = worker.acquireQueue()
        defer { worker.release(text) }
        guard !json.isEmpty else { throw RPCError(.invalidArgument, "the request has no message") }
        do throws(MessageError) {
            let (codec, type, drops) = (worker.messageCodec, bindings[0].method.request, types.dropsUnknown)
            try codec.appendJSON(merging: json.span, type, types.set, dropsUnknown: drops, limit: limit, to: text)
        } catch {
            throw RPCError(error.reason == .tooLarge ? .resourceExhausted : .invalidArgument, error.description)
        }
        do throws(JSONError) {
            return try worker.parsed(text.readable)
        } catch {
            if error.isTooLarge { throw RPCError(.resourceExhausted, error.text) }
            throw RPCError(.internal, "the request cannot be written as JSON")
        }
    }

    // MARK: The response

    func received(informational head: HTTPHead) {
        user.received(informational: head)
    }

    func received(head: HTTPHead, end: Bool) {
        user.headCame(status: head.status)
        response = (head, worker.acquireQueue())
        if end { receivedEnd(trailers: nil) }
    }

    func received(body: Span<UInt8>) {
        guard let response else { return }
        heldSince = worker.context.loop.now
        guard response.body.count + body.count <= limit else {
            let words = "the response exceeds limits.held_message (\(limit) bytes)"
            return fail(.untranslatedResponse(RPCError(.resourceExhausted, words)))
        }
        response.body.append(body)
    }

    func receivedEnd(trailers: HTTPHead?) {
        stream = nil
        heldSince = .max
        guard let (head, body) = response.take(), let binding else { return }
        defer { worker.release(body) }
        var message: [UInt8]
        do throws(RPCError) {
            let plain = try worker.plainBody(body, of: head, .response, limit: limit)
            if 200..<300 ~= head.status {
                let response = RESTResponse(binding: binding, types: types, limit: limit)
                message = try response.message(body: plain, head, isConverted: isConverted, on: worker)
                head.status = 200
            } else {
                let error = RPCError(restStatus: plain.span, httpStatus: head.status, types, worker.messageCodec)
                let own = RPCProtocol.connectUnary.callerSide.response(to: error, requestContentType: Span())
                (head.status, message) = (own.status, own.body)
            }
        } catch {
            worker.release(head)
            return user.streamFailed(.untranslatedResponse(error))
        }
        head.becomeConnectResponse(count: message.count)
        user.received(head: head, end: message.isEmpty)
        // The user may have ended the exchange meanwhile, and takes no more then.
        guard !message.isEmpty, !isOver else { return }
        user.received(body: message.span)
        if !isOver { user.receivedEnd(trailers: nil) }
    }

    func wasReset(_ reason: HTTPReset) {
        stream = nil
        release()
        user.wasReset(reason)
    }

    // MARK: Both

    /// The call fails: what has come cannot be translated.
    private func fail(_ error: UpstreamError) {
        release()
        let stream = stream.take()
        user.streamFailed(error)
        stream?.reset(.canceled)
    }

    private func release() {
        isOver = true
        heldSince = .max
        if let head = head.take() { worker.release(head) }
        if let queue = message.take() { worker.release(queue) }
        guard let (head, body) = response.take() else { return }
        worker.release(head)
        worker.release(body)
    }

    func send(informational head: HTTPHead) {}

    func reset(_ reason: HTTPReset) {
        release()
        stream.take()?.reset(reason)
    }

    func pause(_ reason: PauseReason) { stream?.pause(reason) }
    func resume(_ reason: PauseReason) { stream?.resume(reason) }
    func drained() { user.drained() }
    var isBehind: Bool { user.isBehind }

    var needsInputBeforeReset: Bool { user.needsInputBeforeReset }
    var version: HTTPVersion { stream?.version ?? .http2 }
    var queuedBytes: Int { stream?.queuedBytes ?? 0 }
    var isCrowded: Bool { stream?.isCrowded ?? false }
    var waitsSince: Instant { min(stream?.waitsSince ?? .max, heldSince) }
    var heldBytes: Int {
        (stream?.heldBytes ?? 0) + (message?.capacity ?? 0) + (response?.body.capacity ?? 0)
    }
}
