internal import Bytes
internal import Configuration
internal import HTTP
internal import Protocols
internal import RPC
internal import Time

/// An exchange in gRPC or gRPC-Web, for an attempt of a call whose caller speaks something else.
///
/// It stands between the attempt and the stream of the connection, at the border to the upstream: the chain, retries and
/// the record see the protocol of the caller alone. This file has the way of the request, TranslatedStream+Response.swift
/// that of the response. Both sides let go of it as they do of an HTTPStream.
final class TranslatedStream: HTTPStream {
    let attempt: Attempt
    let worker: Worker
    /// What the caller speaks.
    let caller: RPCProtocol
    /// What the upstream speaks: gRPC or gRPC-Web.
    let upstream: RPCProtocol
    private var stream: (any HTTPStream)?
    private var request: RequestTranslator?
    /// The message of a request whose length has not been said.
    private var requestQueue: ByteQueue?
    let messageLimit: Int
    /// The name of the codec of the messages: the upstream responds in that of the request.
    private(set) var codec: [UInt8] = []
    var response: TranslatedResponse

    /// Opens a stream on the connection; none if it cannot have another.
    init?(for attempt: Attempt, of call: Call, on connection: UpstreamConnection) {
        self.attempt = attempt
        worker = call.worker
        caller = call.rpcProtocol
        upstream = call.upstreamLeg.spoken
        messageLimit = call.callerLeg.listener.heldMessageLimit
        response = TranslatedResponse(
            from: upstream,
            to: caller,
            codec: call.codec,
            limit: messageLimit,
            held: worker.acquireQueue()
        )
        stream = connection.open(for: self)
        if stream == nil { return nil }
    }

    // MARK: The request

    func send(head: HTTPHead, end: Bool) {
        let message: [UInt8]?
        do throws(RPCError) {
            message = try caller == .connectGet ? head.queryMessage() : nil
        } catch {
            return fail(.untranslatedRequest(error))
        }
        // A length that no envelope can have is not believed: the message is held, up to the limit.
        let said = message?.count ?? (end ? 0 : head.contentLength)
        let length = said.flatMap(UInt32.init(exactly:)).map(Int.init)
        let translated = worker.acquireHead()
        translated.copy(head)
        translated.translateRequest(from: caller, to: upstream)
        if upstream == .grpcWeb, !caller.hasEnvelopes { translated.contentLength = length.map { $0 + Envelope.size } }
        codec = translated.first(.contentType).map { upstream.codecName(in: translated.value(at: $0)) } ?? []
        let queue = worker.acquireQueue()
        requestQueue = queue
        let request = RequestTranslator(
            from: caller,
            isCompressed: translated.compression(upstream) != .identity,
            length: length,
            held: queue,
            limit: messageLimit
        )
        let body = worker.acquireQueue()
        request.begin(length: length, into: body)
        if let message { body.append(message) }
        let isWhole = end && body.isEmpty
        stream?.send(head: translated, end: isWhole)
        if !body.isEmpty { stream?.send(body: body.readable) }
        if end, !isWhole { stream?.sendEnd(trailers: nil) }
        self.request = request
        worker.release(body)
        worker.release(translated)
    }

    func send(body: Span<UInt8>) {
        // The message of a GET is in its query; bytes behind it would pass for another one.
        guard var request, caller != .connectGet else { return }
        if request.passes { stream?.send(body: body); return }
        self.request = nil
        let output = worker.acquireQueue()
        do throws(RPCError) {
            try request.add(body, into: output)
            if !output.isEmpty { stream?.send(body: output.readable) }
            self.request = request
        } catch {
            fail(.untranslatedRequest(error))
        }
        worker.release(output)
    }

    func sendEnd(trailers: HTTPHead?) {
        guard var request = request.take() else { return }
        let output = worker.acquireQueue()
        do throws(RPCError) {
            try request.end(into: output)
            if !output.isEmpty { stream?.send(body: output.readable) }
            stream?.sendEnd(trailers: nil)
        } catch {
            fail(.untranslatedRequest(error))
        }
        worker.release(output)
    }

    /// The call fails: what has come cannot be translated.
    func fail(_ error: UpstreamError) {
        release()
        let stream = self.stream.take()
        attempt.failed(error)
        stream?.reset(.canceled)
    }

    /// The exchange is over for the upstream: the stream is its connection's again.
    func forgetStream() { stream = nil }

    /// Nothing more is sent or comes.
    func release() {
        request = nil
        if let queue = requestQueue.take() { worker.release(queue) }
        response.release(to: worker.context)
    }

    // MARK: What is asked of the stream

    var version: HTTPVersion { stream?.version ?? .http2 }
    var queuedBytes: Int { stream?.queuedBytes ?? 0 }
    var isCrowded: Bool { stream?.isCrowded ?? false }
    var heldBytes: Int { (stream?.heldBytes ?? 0) + (request?.heldBytes ?? 0) + response.heldBytes }
    var waitsSince: Instant { stream?.waitsSince ?? .max }

    func send(informational head: HTTPHead) {}

    func reset(_ reason: HTTPReset) {
        release()
        stream.take()?.reset(reason)
    }

    func pause(_ reason: PauseReason) { stream?.pause(reason) }
    func resume(_ reason: PauseReason) { stream?.resume(reason) }
}

extension HTTPHead {
    /// The message of a Connect GET.
    func queryMessage() throws(RPCError) -> [UInt8] {
        let query = query
        guard let parsed = ConnectQuery(query) else { return [] }
        guard parsed.compression != .unknown else {
            throw RPCError(.unimplemented, "the compression in the query is unknown")
        }
        // It becomes a part of a field.
        guard FieldName.isValid(String(decoding: parsed.codecName(in: query), as: UTF8.self)) else {
            throw RPCError(.invalidArgument, "the codec in the query is not a valid name")
        }
        return try parsed.message(in: query)
    }
}
