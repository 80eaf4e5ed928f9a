internal import Bytes
internal import Events
internal import HTTP
internal import Protocols
internal import RPC
internal import Time
internal import Types

/// The response to a caller that has used a REST path: takes that of a Connect call, and sends what REST makes of it.
///
/// Once the response has ended, the stream of the connection is another exchange's, and what comes of the call goes nowhere.
final class RESTResponseStream: HTTPStream {
    /// What is sent.
    enum Form {
        /// The body as it comes.
        case asIs
        /// One body, which has to come whole.
        case whole
        /// A stream of messages.
        case messages
    }

    let binding: RESTBinding
    let types: KnownTypes
    let worker: Worker
    let limit: Int
    let wantsEvents: Bool
    /// The call that the response is of.
    weak var call: Call?
    private(set) var stream: (any HTTPStream)?
    private let httpVersion: HTTPVersion
    private(set) var form: Form?
    /// The head, while it waits for what decides about it.
    var head: HTTPHead?
    /// The body, while it is not whole; with a stream of messages, a message that is not.
    var body: ByteQueue?
    var messages: MessageReader?
    /// How a stream of messages has ended, once its end has come.
    var end: Outcome?
    private var heldSince = Instant.max

    init(
        _ stream: any HTTPStream,
        _ match: RESTMatch,
        _ types: KnownTypes,
        _ request: HTTPHead,
        _ listener: CallerService
    ) {
        self.stream = stream
        self.types = types
        binding = match.binding
        httpVersion = stream.version
        worker = listener.worker
        limit = listener.heldMessageLimit
        let accept = binding.method.streams ? request.first(Self.accept) : nil
        wantsEvents = accept.map { request.value(at: $0).accepts("text/event-stream") } ?? false
    }

    /// Whether nothing is sent any more.
    var isOver: Bool { stream == nil }

    // MARK: HTTPStream

    func send(head: HTTPHead, end: Bool) {
        guard let stream else { return }
        let form = form(of: head)
        self.form = form
        if form == .asIs {
            if end { finished() }
            return stream.send(head: head, end: end)
        }
        let copy = worker.acquireHead()
        copy.copy(head)
        self.head = copy
        let queue = worker.acquireQueue()
        body = queue
        if form == .messages {
            messages = MessageReader(.connectStream, .response, needsMessages: true, messageLimit: limit, held: queue)
        }
        if end { sendEnd(trailers: nil) }
    }

    private func form(of head: HTTPHead) -> Form {
        // A service that responds in the protocol of the caller has responded in REST.
        if call?.upstreamLeg.isServedRaw == true { return .asIs }
        guard head.status == 200 else { return .whole }
        if binding.method.streams { return head.isConnectStream ? .messages : .whole }
        if case .message = binding.responseBody { return binding.method.response.isHTTPBody ? .whole : .asIs }
        return .whole
    }

    func send(body bytes: Span<UInt8>) {
        guard let stream, let form else { return }
        heldSince = worker.context.loop.now
        switch form {
        case .asIs: stream.send(body: bytes)
        case .messages: read(bytes)
        case .whole:
            guard let body, body.count + bytes.count <= limit else {
                let words = "the response exceeds limits.held_message (\(limit) bytes)"
                return undeliverable(RPCError(.resourceExhausted, words))
            }
            body.append(bytes)
        }
    }

    func sendEnd(trailers: HTTPHead?) {
        guard let stream, let form else { return }
        switch form {
        case .asIs:
            finished()
            stream.sendEnd(trailers: nil)
        case .whole: sendWhole()
        case .messages: endMessages()
        }
    }

    func reset(_ reason: HTTPReset) {
        let stream = stream
        finished()
        stream?.reset(reason)
    }

    var version: HTTPVersion { httpVersion }
    func send(informational head: HTTPHead) { stream?.send(informational: head) }
    func pause(_ reason: PauseReason) { stream?.pause(reason) }
    func resume(_ reason: PauseReason) { stream?.resume(reason) }
    var queuedBytes: Int { stream?.queuedBytes ?? 0 }
    var isCrowded: Bool { stream?.isCrowded ?? false }
    var heldBytes: Int { (stream?.heldBytes ?? 0) + responseBytes }
    var isPaused: Bool { stream?.isPaused ?? false }
    var holdsEnd: Bool { stream?.holdsEnd ?? false }
    var hasContinued: Bool { stream?.hasContinued ?? true }
    var waitsSince: Instant { min(stream?.waitsSince ?? .max, responseWaitsSince) }

    /// The bytes of the request that have come, of which the call gets none before the last.
    var requestBytes = 0

    /// How many bytes are set aside here.
    var responseBytes: Int { body?.capacity ?? 0 }
    /// Since when they wait for more; `.max` if there are none.
    var responseWaitsSince: Instant { body?.isEmpty == false ? heldSince : .max }

    // MARK: The end

    /// Sends a head that has waited, with all of its body.
    func finish(_ head: HTTPHead, _ body: Span<UInt8>) {
        guard let stream else { return }
        head.setReason(Span())
        head.remove(Self.contentEncoding)
        // Of these the head is all there is (RFC 9110 §6.4.1).
        guard head.status != 204, head.status != 304 else {
            head.contentLength = nil
            stream.send(head: head, end: true)
            return finished()
        }
        head.contentLength = body.count
        stream.send(head: head, end: body.count == 0)
        if body.count > 0 {
            stream.send(body: body)
            stream.sendEnd(trailers: nil)
        }
        finished()
    }

    /// Lets go of the exchange, and of what is set aside for it.
    func finished() {
        stream = nil
        messages = nil
        if let queue = body.take() { worker.release(queue) }
        if let head = head.take() { worker.release(head) }
    }

    static let accept = FieldName("accept")
    static let contentType = FieldName("content-type")
    static let contentEncoding = FieldName("content-encoding")
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
