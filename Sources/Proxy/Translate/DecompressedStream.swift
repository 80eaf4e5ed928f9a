internal import Bytes
internal import Compressors
internal import Events
internal import HTTP
internal import Protocols
internal import RPC
internal import Telemetry
internal import Time

/// An exchange with an upstream that does not understand every compression: messages of the request that are compressed
/// otherwise are decompressed.
///
/// It stands before the stream of the connection, for the request alone: the response passes it by. What the upstream
/// understands goes through as it is.
final class DecompressedStream: HTTPStream {
    private let stream: any HTTPStream
    private let accepted: AcceptedCompressions
    /// What the upstream is spoken to in.
    private let rpcProtocol: RPCProtocol
    private let worker: Worker
    /// The most bytes of a message.
    private let limit: Int
    private unowned let user: any AttemptStreamUser
    /// How messages are compressed, if they are to be decompressed.
    private var compression = Compression.identity
    /// Finds the messages.
    private var messages: MessageReader?
    /// The head of a request with a bare message, while it waits for that.
    private var head: HTTPHead?
    /// What is held of a message.
    private var held: ByteQueue?
    /// Since when it waits for more; `.max` if there is nothing.
    private var heldSince = Instant.max
    private var hasFailed = false
    /// The bytes that the messages of one read may become however short memory is.
    private static let freeOutput = 1 << 20

    /// Stands before a stream.
    ///
    /// - Parameters:
    ///   - stream: the stream of the connection.
    ///   - call: the call that it is for.
    ///   - user: who is told why the request cannot be sent.
    ///   - accepted: the compressions that the upstream understands.
    init(
        before stream: any HTTPStream,
        of call: Call,
        for user: any AttemptStreamUser,
        _ accepted: AcceptedCompressions
    ) {
        self.stream = stream
        self.accepted = accepted
        rpcProtocol = call.upstreamLeg.spoken
        worker = call.worker
        limit = call.callerLeg.listener.heldMessageLimit
        self.user = user
    }

    deinit { release() }

    // MARK: The request

    func send(head original: HTTPHead, end: Bool) {
        let query = original.query
        let parsed = rpcProtocol == .connectGet ? ConnectQuery(query) : nil
        let compression = parsed?.compression ?? original.compression(rpcProtocol)
        let isAccepted = accepted.contains(compression)
        guard !isAccepted || accepted.exceeded(by: original, rpcProtocol) else {
            return stream.send(head: original, end: end)
        }
        let head = worker.acquireHead()
        head.copy(original)
        if accepted.exceeded(by: head, rpcProtocol) { accepted.narrow(head, rpcProtocol) }
        if isAccepted {
            stream.send(head: head, end: end)
        } else if let parsed {
            decompress(parsed, head, end: end)
        } else {
            self.compression = compression
            return begin(head, end: end)
        }
        worker.release(head)
    }

    /// The message is in the query.
    private func decompress(_ parsed: ConnectQuery, _ head: HTTPHead, end: Bool) {
        let (message, target) = (worker.acquireQueue(), worker.acquireQueue())
        defer {
            worker.release(message)
            worker.release(target)
        }
        do throws(RPCError) {
            let compressed = try parsed.message(in: head.query)
            try decompress(compressed.span, parsed.compression, into: message)
        } catch {
            return fail(error)
        }
        target.append(head.path)
        target.append("?")
        target.append(connectQuery: head.query, message: message.readable, compression: .identity)
        head.setTarget(target.readable)
        stream.send(head: head, end: end)
    }

    /// The messages are in the body.
    private func begin(_ head: HTTPHead, end: Bool) {
        head.remove(rpcProtocol.encodingField)
        guard !end else {
            stream.send(head: head, end: true)
            return worker.release(head)
        }
        let queue = worker.acquireQueue()
        held = queue
        guard rpcProtocol.hasEnvelopes else {
            user.holds(head)
            self.head = head
            return
        }
        messages = MessageReader(rpcProtocol, .request, needsMessages: true, messageLimit: limit, held: queue)
        head.contentLength = nil
        stream.send(head: head, end: false)
        worker.release(head)
    }

    func send(body: Span<UInt8>) {
        guard !hasFailed else { return }
        guard let held else { return stream.send(body: body) }
        if head != nil {
            guard held.count + body.count <= limit else { return fail(tooLarge) }
            held.append(body)
        } else {
            read(body)
        }
        guard !hasFailed else { return }
        heldSince = held.isEmpty ? .max : worker.context.loop.now
    }

    private func read(_ body: Span<UInt8>) {
        guard var messages = messages.take() else { return }
        let output = worker.acquireQueue()
        defer { worker.release(output) }
        var position = 0
        do throws(RPCError) {
            while let event = messages.next(in: body, from: &position) {
                switch event {
                case .message(let flags, let location):
                    try append(messages.bytes(at: location, in: body), flags, to: output)
                    try checkMemory(output)
                case .error(let error): throw error
                case .pass, .end: break
                }
            }
        } catch {
            return fail(error)
        }
        self.messages = messages
        if !output.isEmpty { stream.send(body: output.readable) }
    }

    /// Ends the call if a few bytes have become so many that others would have to end for them.
    private func checkMemory(_ output: ByteQueue) throws(RPCError) {
        guard output.count > Self.freeOutput, worker.context.memory.isExhausted else { return }
        worker.counters.limitHit(.memory)
        throw Call.shortage
    }

    private func append(_ payload: Span<UInt8>, _ flags: UInt8, to output: ByteQueue) throws(RPCError) {
        guard flags & Envelope.compressed != 0 else {
            return output.append(message: payload, flags: flags, in: rpcProtocol)
        }
        let message = worker.acquireQueue()
        defer { worker.release(message) }
        try decompress(payload, compression, into: message)
        output.append(message: message.readable, flags: flags & ~Envelope.compressed, in: rpcProtocol)
    }

    func sendEnd(trailers: HTTPHead?) {
        guard !hasFailed else { return }
        if let head = head.take(), let held {
            sendBare(held, head)
            worker.release(head)
        } else if let messages, !messages.isBetweenMessages {
            return fail(RPCError(.invalidArgument, "the request ends in the middle of a message"))
        }
        guard !hasFailed else { return }
        release()
        stream.sendEnd(trailers: trailers)
    }

    /// The one message of a request is whole.
    private func sendBare(_ compressed: ByteQueue, _ head: HTTPHead) {
        let message = worker.acquireQueue()
        defer { worker.release(message) }
        do throws(RPCError) {
            try decompress(compressed.readable, compression, into: message)
        } catch {
            return fail(error)
        }
        head.contentLength = message.count
        stream.send(head: head, end: false)
        if !message.isEmpty { stream.send(body: message.readable) }
    }

    /// Appends what a compressed message stands for; one without bytes is none.
    private func decompress(
        _ payload: Span<UInt8>,
        _ compression: Compression,
        into output: ByteQueue
    ) throws(RPCError) {
        guard payload.isEmpty || Compressor.supports(compression) else {
            let name = compression.name.map { "the compression \($0)" } ?? "the compression of the message"
            throw .unsupported("the upstream does not understand \(name), and Martlet cannot decompress it")
        }
        try worker.decompress(payload, from: compression, .request, limit: limit, to: output)
    }

    private var tooLarge: RPCError {
        RPCError(.resourceExhausted, "a request message exceeds limits.held_message (\(limit) bytes)")
    }

    private func fail(_ error: RPCError) {
        hasFailed = true
        release()
        user.streamFailed(.untranslatedRequest(error))
        stream.reset(.canceled)
    }

    private func release() {
        messages = nil
        heldSince = .max
        if let head = head.take() { worker.release(head) }
        if let queue = held.take() { worker.release(queue) }
    }

    // MARK: What is asked of the stream

    var version: HTTPVersion { stream.version }
    var queuedBytes: Int { stream.queuedBytes }
    var isCrowded: Bool { stream.isCrowded }
    var heldBytes: Int { stream.heldBytes + (held?.capacity ?? 0) }
    var waitsSince: Instant { min(stream.waitsSince, heldSince) }
    var isReadOn: Bool { stream.isReadOn }
    func send(informational head: HTTPHead) {}

    func reset(_ reason: HTTPReset) {
        hasFailed = true
        release()
        stream.reset(reason)
    }

    func pause(_ reason: PauseReason) { stream.pause(reason) }
    func resume(_ reason: PauseReason) { stream.resume(reason) }
}

extension Call {
    /// The compressions that an upstream understands; none if that is any, or if the call has no messages.
    var acceptedCompressions: AcceptedCompressions? {
        guard let accepted = route.upstream?.compressions, rpcProtocol.family != nil else { return nil }
        return accepted
    }
}
