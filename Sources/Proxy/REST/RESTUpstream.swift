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
final class RESTUpstream: HTTPStream, HTTPStreamUser {
    private let user: any HTTPStreamUser
    private let bindings: [RESTBinding]
    private let types: KnownTypes
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

    /// Opens a stream on the connection; none if it cannot have another.
    init?(
        for user: any HTTPStreamUser,
        _ bindings: [RESTBinding],
        _ types: KnownTypes,
        of call: Call,
        on connection: UpstreamConnection
    ) {
        (self.user, self.bindings, self.types) = (user, bindings, types)
        worker = call.worker
        limit = call.callerLeg.listener.heldMessageLimit
        stream = connection.open(for: self)
        if stream == nil { return nil }
    }

    // MARK: The request

    func send(head: HTTPHead, end: Bool) {
        let copy = worker.acquireHead()
        copy.copy(head)
        self.head = copy
        message = worker.acquireQueue()
        if end { sendEnd(trailers: nil) }
    }

    func send(body: Span<UInt8>) {
        guard let message else { return }
        heldSince = worker.context.loop.now
        guard message.count + body.count <= limit else {
            return fail(RPCError(.resourceExhausted, "the request exceeds limits.held_message (\(limit) bytes)"))
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
            let json = try canonical(try plain(message, head.compression(.connectUnary), .request), .request)
            let (binding, target) = try target(of: json)
            self.binding = binding
            head.becomeREST(binding, target)
            stream?.send(head: head, end: target.body == nil)
            if let body = target.body {
                if !body.isEmpty { stream?.send(body: body.span) }
                stream?.sendEnd(trailers: nil)
            }
        } catch {
            fail(error)
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

    private func plain(
        _ message: ByteQueue,
        _ compression: Compression,
        _ direction: Direction
    ) throws(RPCError) -> [UInt8] {
        guard compression != .identity, !message.isEmpty else { return message.readable.array }
        let plain = worker.acquireQueue()
        defer { worker.release(plain) }
        do throws(DecompressionError) {
            guard Compressor.supports(compression) else { throw .malformed }
            try worker.compressor.decompress(message.readable, from: compression, into: plain, limit: limit)
        } catch {
            let code = direction == .request ? RPCCode.invalidArgument : .internal
            throw RPCError(code, "the \(direction) cannot be decompressed")
        }
        return plain.readable.array
    }

    /// The message as Martlet writes it: each field once, by its name in JSON.
    private func canonical(_ json: [UInt8], _ direction: Direction) throws(RPCError) -> JSONValue {
        let (wire, text) = (worker.acquireQueue(), worker.acquireQueue())
        defer {
            worker.release(wire)
            worker.release(text)
        }
        do throws(MessageError) {
            let (codec, type) = (worker.messageCodec, bindings[0].method.request)
            let drops = types.dropsUnknown
            try codec.appendMessage(ofJSON: json.span, type, types.set, dropsUnknown: drops, limit: limit, to: wire)
            try codec.appendJSON(of: wire.readable, type, types.set, limit: limit, to: text)
        } catch {
            throw RPCError(.invalidArgument, error.description)
        }
        return (try? JSON.parse(text.readable)) ?? .object([])
    }

    // MARK: The response

    func received(informational head: HTTPHead) {
        user.received(informational: head)
    }

    func received(head: HTTPHead, end: Bool) {
        response = (head, worker.acquireQueue())
        if end { receivedEnd(trailers: nil) }
    }

    func received(body: Span<UInt8>) {
        guard let response else { return }
        heldSince = worker.context.loop.now
        guard response.body.count + body.count <= limit else {
            return fail(RPCError(.resourceExhausted, "the response exceeds limits.held_message (\(limit) bytes)"))
        }
        response.body.append(body)
    }

    func receivedEnd(trailers: HTTPHead?) {
        stream = nil
        heldSince = .max
        guard let (head, body) = response.take() else { return }
        defer { worker.release(body) }
        guard let binding else { return worker.release(head) }
        var message: [UInt8]
        do throws(RPCError) {
            message = try connectMessage(body, head, binding)
            head.status = 200
        } catch {
            let own = RPCProtocol.connectUnary.callerSide.response(to: error, requestContentType: Span())
            head.status = own.status
            message = own.body
        }
        head.becomeConnectResponse(count: message.count)
        user.received(head: head, end: message.isEmpty)
        guard !message.isEmpty else { return }
        user.received(body: message.span)
        user.receivedEnd(trailers: nil)
    }

    /// The message of a response.
    ///
    /// - Throws: the error that it is instead.
    private func connectMessage(
        _ body: ByteQueue,
        _ head: HTTPHead,
        _ binding: RESTBinding
    ) throws(RPCError) -> [UInt8] {
        let plain = try plain(body, head.compression(.connectUnary), .response)
        guard 200..<300 ~= head.status else {
            throw RPCError(restStatus: plain.span, httpStatus: head.status, types, worker.messageCodec)
        }
        return binding.message(ofResponse: plain, head)
    }

    func wasReset(_ reason: HTTPReset) {
        stream = nil
        release()
        user.wasReset(reason)
    }

    // MARK: Both

    /// Ends the exchange with an error, as if the upstream had sent it.
    private func fail(_ error: RPCError) {
        release()
        stream.take()?.reset(.canceled)
        let own = RPCProtocol.connectUnary.callerSide.response(to: error, requestContentType: Span())
        let head = worker.acquireHead()
        head.status = own.status
        head.becomeConnectResponse(count: own.body.count)
        user.received(head: head, end: false)
        user.received(body: own.body.span)
        user.receivedEnd(trailers: nil)
    }

    private func release() {
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
    var version: HTTPVersion { stream?.version ?? .http2 }
    var queuedBytes: Int { stream?.queuedBytes ?? 0 }
    var isCrowded: Bool { stream?.isCrowded ?? false }
    var waitsSince: Instant { min(stream?.waitsSince ?? .max, heldSince) }
    var heldBytes: Int {
        (stream?.heldBytes ?? 0) + (message?.capacity ?? 0) + (response?.body.capacity ?? 0)
    }
}

extension HTTPHead {
    private static let contentType = FieldName("content-type")
    private static let ofConnect = ["connect-protocol-version", "accept-encoding", "content-encoding"]
        .map { FieldName($0) }
    private static let connectTimeout = FieldName("connect-timeout-ms")

    /// Makes the head of a Connect call that of a request to a REST path.
    fileprivate func becomeREST(_ binding: RESTBinding, _ target: RESTTarget) {
        let (method, path, type) = (binding.httpMethod, target.target, target.contentType)
        setMethod(method.span)
        setTarget(path.span)
        for name in Self.ofConnect { remove(name) }
        if let index = first(Self.connectTimeout) {
            let milliseconds = value(at: index).decimal ?? 0
            remove(Self.connectTimeout)
            let fraction = String(1000 + milliseconds % 1000).dropFirst()
            add(FieldName("x-server-timeout"), Array("\(milliseconds / 1000).\(fraction)".utf8).span)
        }
        if target.body == nil { remove(Self.contentType) } else { set(Self.contentType, type.span) }
        contentLength = target.body?.count
    }

    fileprivate func becomeConnectResponse(count: Int) {
        setReason(Span())
        remove(FieldName("content-encoding"))
        set(Self.contentType, Array("application/json".utf8).span)
        contentLength = count
    }
}

extension RESTBinding {
    /// The message that a response means, as JSON.
    fileprivate func message(ofResponse body: [UInt8], _ head: HTTPHead) -> [UInt8] {
        func value(isHTTPBody: Bool) -> [UInt8] {
            guard isHTTPBody else { return body.isEmpty ? Array("{}".utf8) : body }
            let type = head.first(FieldName("content-type")).map { head.value(at: $0).string } ?? ""
            let json = ByteQueue()
            json.append("{\"contentType\":")
            json.append(json: type)
            json.append(",\"data\":\"")
            json.append(base64: body.span, padded: true)
            json.append("\"}")
            return json.readable.array
        }
        guard case .field(let field) = responseBody else { return value(isHTTPBody: method.response.isHTTPBody) }
        let json = ByteQueue()
        json.append("{")
        json.append(json: field.steps[0].json)
        json.append(":")
        json.append(value(isHTTPBody: field.isHTTPBody))
        json.append("}")
        return json.readable.array
    }
}
