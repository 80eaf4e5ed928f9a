internal import Bytes
internal import Documents
internal import HTTP
internal import Protocols
internal import RPC
internal import Time
internal import Types

/// The response to a caller that has used a REST path: takes that of a Connect call, and sends what REST makes of it.
final class RESTStream: HTTPStream {
    /// What is sent.
    private enum Form {
        /// Not known yet.
        case unknown
        /// The body as it comes.
        case asIs
        /// One body, which has to come whole.
        case whole
        /// A stream of messages.
        case messages
    }

    private let stream: any HTTPStream
    private let binding: RESTBinding
    private let types: KnownTypes?
    private let worker: Worker
    private let limit: Int
    private let wantsEvents: Bool
    private var form = Form.unknown
    /// The head, while it waits for what decides about it.
    private var head: HTTPHead?
    /// The body, while it is not whole; with a stream of messages, a message that is not.
    private var body: ByteQueue?
    private var messages: MessageReader?
    private var isOver = false

    init(
        _ stream: any HTTPStream,
        _ binding: RESTBinding,
        _ types: KnownTypes?,
        _ request: HTTPHead,
        _ listener: CallerService
    ) {
        self.stream = stream
        self.binding = binding
        self.types = types
        worker = listener.worker
        limit = listener.heldMessageLimit
        let accept = request.first(FieldName("accept"))
        wantsEvents = accept.map { request.value(at: $0).accepts("text/event-stream") } ?? false
    }

    // MARK: HTTPStream

    func send(head: HTTPHead, end: Bool) {
        let isSuccess = head.status == 200
        let method = binding.method
        if isSuccess, !method.streams, case .message = binding.responseBody, !method.response.isHTTPBody {
            form = .asIs
            isOver = end
            return stream.send(head: head, end: end)
        }
        let isStream = isSuccess && binding.method.streams && head.isConnectStream
        form = isStream ? .messages : .whole
        let copy = worker.acquireHead()
        copy.copy(head)
        self.head = copy
        let queue = worker.acquireQueue()
        body = queue
        if isStream {
            messages = MessageReader(.connectStream, .response, needsMessages: true, messageLimit: limit, held: queue)
        }
        if end { sendEnd(trailers: nil) }
    }

    func send(body bytes: Span<UInt8>) {
        guard !isOver else { return }
        switch form {
        case .asIs, .unknown: stream.send(body: bytes)
        case .whole:
            guard let body, body.count + bytes.count <= limit else {
                return fail(RPCError(.resourceExhausted, "the response exceeds limits.held_message (\(limit) bytes)"))
            }
            body.append(bytes)
        case .messages: read(bytes)
        }
    }

    func sendEnd(trailers: HTTPHead?) {
        guard !isOver else { return }
        switch form {
        case .asIs, .unknown:
            isOver = true
            stream.sendEnd(trailers: nil)
        case .whole: sendWhole()
        // The end of a stream of messages is said in its body.
        case .messages: fail(RPCError(.internal, "the response ended without its end"))
        }
    }

    func reset(_ reason: HTTPReset) {
        release()
        stream.reset(reason)
    }

    var version: HTTPVersion { stream.version }
    func send(informational head: HTTPHead) { stream.send(informational: head) }
    func pause(_ reason: PauseReason) { stream.pause(reason) }
    func resume(_ reason: PauseReason) { stream.resume(reason) }
    var queuedBytes: Int { stream.queuedBytes }
    var isCrowded: Bool { stream.isCrowded }
    var heldBytes: Int { stream.heldBytes + responseBytes }
    var waitsSince: Instant { stream.waitsSince }

    /// How many bytes are set aside here.
    var responseBytes: Int { body?.capacity ?? 0 }

    // MARK: One body

    private func sendWhole() {
        guard let body, let head else { return }
        guard head.status == 200 else { return fail(error(body.readable, status: head.status)) }
        if binding.method.response.isHTTPBody { return sendRaw(body.readable, head) }
        guard case .field(let field) = binding.responseBody else { return }
        guard let message = try? JSON.parse(body.readable) else {
            return fail(RPCError(.internal, "the upstream sent an invalid response: it is not valid JSON"))
        }
        let (json, name) = (message[field.steps[0].json], message[field.steps[0].name])
        if field.isHTTPBody { return sendHTTPBody(json ?? name ?? .null, head) }
        let value = (json ?? name)?.bytes ?? field.absent
        finish(head, value.span)
    }

    private func sendRaw(_ message: Span<UInt8>, _ head: HTTPHead) {
        guard let message = try? JSON.parse(message) else {
            return fail(RPCError(.internal, "the upstream sent an invalid response: it is not valid JSON"))
        }
        sendHTTPBody(message, head)
    }

    /// Sends what a `google.api.HttpBody` has, as it is.
    private func sendHTTPBody(_ message: JSONValue, _ head: HTTPHead) {
        let data = message["data"]?.string.map { Array($0.utf8) } ?? []
        let type = message.contentType
        if let type { head.set(Self.contentType, type.span) } else { head.remove(Self.contentType) }
        let bytes = Base64.decode(data.span) ?? []
        finish(head, bytes.span)
    }

    /// Sends a head that has waited, with all of its body.
    private func finish(_ head: HTTPHead, _ body: Span<UInt8>) {
        isOver = true
        head.contentLength = body.count
        stream.send(head: head, end: body.count == 0)
        if body.count > 0 {
            stream.send(body: body)
            stream.sendEnd(trailers: nil)
        }
        release()
    }

    // MARK: A stream of messages

    private func read(_ bytes: Span<UInt8>) {
        // Not in the stream's hands while it is lent.
        guard var messages = messages.take() else { return }
        var position = 0
        while !isOver, let event = messages.next(in: bytes, from: &position) {
            switch event {
            case .message(let flags, let location):
                guard flags & Envelope.compressed == 0 else {
                    fail(RPCError(.internal, "the upstream compressed a message, which nobody has asked for"))
                    break
                }
                let message = messages.bytes(at: location, in: bytes)
                send(message: message)
            case .end(_, let location):
                let payload = messages.bytes(at: location, in: bytes)
                end(payload)
            case .error(let error): fail(error)
            case .pass: break
            }
        }
        if !isOver { self.messages = messages }
    }

    private func send(message: Span<UInt8>) {
        if binding.method.response.isHTTPBody { return sendPiece(message) }
        begin(Self.type(wantsEvents))
        let line = worker.acquireQueue()
        line.append(wantsEvents ? "data: " : "")
        line.append(line: message)
        line.append(wantsEvents ? "\n\n" : "\n")
        stream.send(body: line.readable)
        worker.release(line)
    }

    /// A piece of a body of another type, which the first one names.
    private func sendPiece(_ message: Span<UInt8>) {
        let value = (try? JSON.parse(message)) ?? .null
        let data = value["data"]?.string.map { Array($0.utf8) } ?? []
        begin(value.contentType ?? Array("application/octet-stream".utf8))
        let bytes = Base64.decode(data.span) ?? []
        if !bytes.isEmpty { stream.send(body: bytes.span) }
    }

    /// Sends the head, if it still waits.
    private func begin(_ type: [UInt8]) {
        guard let head = head.take() else { return }
        head.set(Self.contentType, type.span)
        head.contentLength = nil
        stream.send(head: head, end: false)
        worker.release(head)
    }

    private func end(_ payload: Span<UInt8>) {
        let outcome = Outcome(.json(payload.array, fallback: .unknown, isEndStream: true))
        if let error = outcome.error(trailers: HTTPHead()) { return fail(error) }
        begin(Self.type(wantsEvents))
        isOver = true
        stream.sendEnd(trailers: nil)
        release()
    }

    // MARK: Errors

    /// The error that a body says, or else the status.
    private func error(_ body: Span<UInt8>, status: Int) -> RPCError {
        let fallback = RPCCode(inferredFromStatus: status)
        let outcome = Outcome(.json(body.array, fallback: fallback, isEndStream: false))
        var error = outcome.error(trailers: HTTPHead()) ?? RPCError(fallback, "HTTP status \(status)")
        error.httpStatus = status
        return error
    }

    /// Tells the caller of an error: by the status if nothing has been sent, else in a last line.
    private func fail(_ error: RPCError) {
        guard !isOver else { return }
        let status = worker.acquireQueue()
        status.append(status: error, types, worker.messageCodec, limit: limit)
        defer { worker.release(status) }
        if let head {
            head.status = error.httpStatus ?? error.code.httpStatus
            head.set(Self.contentType, Array("application/json".utf8).span)
            head.remove(Self.contentEncoding)
            return finish(head, status.readable)
        }
        isOver = true
        guard !binding.method.response.isHTTPBody else {
            // Nothing tells an error from the bytes of such a body.
            release()
            return stream.reset(.code(.internalError))
        }
        let line = worker.acquireQueue()
        line.append(wantsEvents ? "event: error\ndata: {\"error\":" : "{\"error\":")
        line.append(status.readable)
        line.append(wantsEvents ? "}\n\n" : "}\n")
        stream.send(body: line.readable)
        worker.release(line)
        stream.sendEnd(trailers: nil)
        release()
    }

    private func release() {
        isOver = true
        messages = nil
        if let queue = body.take() { worker.release(queue) }
        if let head = head.take() { worker.release(head) }
    }

    private static func type(_ wantsEvents: Bool) -> [UInt8] {
        Array((wantsEvents ? "text/event-stream" : "application/x-ndjson").utf8)
    }

    private static let contentType = FieldName("content-type")
    private static let contentEncoding = FieldName("content-encoding")
}

extension HTTPHead {
    fileprivate var isConnectStream: Bool {
        guard let index = first(.contentType) else { return false }
        return value(at: index).mediaType.equalsIgnoringCase("application/connect+json")
    }
}

extension Span<UInt8> {
    /// Whether a list of media types has this one.
    fileprivate func accepts(_ type: StaticString) -> Bool {
        array.split(separator: UInt8(ascii: ",")).contains { part in
            let part = Array(part)
            return part.span.trimmed.mediaType.equalsIgnoringCase(type)
        }
    }
}

extension JSONValue {
    /// The content type of a `google.api.HttpBody`, if it can be one.
    fileprivate var contentType: [UInt8]? {
        let text = (self["contentType"] ?? self["content_type"])?.string ?? ""
        let bytes = Array(text.utf8)
        return bytes.isEmpty || !bytes.allSatisfy({ 0x20...0x7e ~= $0 }) ? nil : bytes
    }
}

extension ByteQueue {
    /// Appends JSON as one line: line ends in it can only be white space.
    fileprivate func append(line json: Span<UInt8>) {
        for index in json.indices {
            let isEnd = json[index] == UInt8(ascii: "\n") || json[index] == UInt8(ascii: "\r")
            append(byte: isEnd ? UInt8(ascii: " ") : json[index])
        }
    }
}
