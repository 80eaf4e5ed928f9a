internal import Bytes
internal import Configuration
internal import Events
internal import HTTP
internal import Protocols
internal import RPC
internal import Time

/// An exchange in another protocol or codec than that of the caller, for an attempt of its call.
///
/// It stands between the attempt and the stream of the connection, at the border to the upstream: the chain, retries and
/// the record see the protocol of the caller alone. This file has the way of the request, TranslatedStream+Response.swift
/// and +End that of the response. Both sides let go of it as they do of an HTTPStream.
final class TranslatedStream: HTTPStream {
    let attempt: Attempt
    let worker: Worker
    /// What the caller speaks.
    let caller: RPCProtocol
    /// What the upstream speaks.
    let upstream: RPCProtocol
    private var stream: (any HTTPStream)?
    /// How messages are converted, if the upstream does not understand their codec.
    let conversion: MessageConversion?
    private var request: RequestTranslator?
    private var converter: RequestConverter?
    /// Where the upstream takes a message without its envelope.
    private var extractor: MessageExtractor?
    /// The head of the request, while it waits for that envelope.
    private var requestHead: HTTPHead?
    /// A message of the request that is not whole.
    private var requestQueue: ByteQueue?
    /// The same, while messages are converted.
    private var converterQueue: ByteQueue?
    let messageLimit: Int
    /// The name of the codec of the caller's messages, in which it gets the response.
    private(set) var codec = CodecName(.other)
    /// The compressions that the caller reads in a response.
    private(set) var acceptedCompressions = ListedCompressions()
    var response: TranslatedResponse
    /// Since when what is held waits for more; `.max` if nothing does.
    private var heldSince = Instant.max

    /// Stands before a stream that is to be opened.
    init(for attempt: Attempt, of call: Call) {
        self.attempt = attempt
        worker = call.worker
        caller = call.rpcProtocol
        upstream = call.upstreamLeg.spoken
        conversion = call.upstreamLeg.conversion
        messageLimit = call.callerLeg.listener.heldMessageLimit
        response = TranslatedResponse(
            from: upstream,
            codec: conversion?.codec ?? call.codec,
            held: worker.acquireQueue()
        )
    }

    /// Opens the stream.
    ///
    /// - Returns: whether the connection, if one is needed, can have another.
    func open(_ call: Call, on connection: UpstreamConnection?) -> Bool {
        stream = call.open(on: connection, for: self)
        if stream == nil { release() }
        return stream != nil
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
        codec = translated.translate(head, from: caller, to: upstream)
        acceptedCompressions = ListedCompressions(in: head, caller)
        // Servers of RPC rarely know the expectation, and what goes to them is another request.
        attempt.holds(translated)
        let compression = translated.compression(upstream)
        if let conversion {
            translated.convert(to: conversion.codec, in: upstream)
            let queue = worker.acquireQueue()
            converterQueue = queue
            converter = RequestConverter(conversion, compression, limit: messageLimit, held: queue)
        } else if upstream == .grpcWeb, !caller.hasEnvelopes {
            translated.contentLength = length.map { $0 + Envelope.size }
        }
        let isCompressed = compression != .identity
        let request = RequestTranslator(from: caller, isCompressed: isCompressed, length: length, limit: messageLimit) {
            let queue = worker.acquireQueue()
            requestQueue = queue
            return queue
        }
        let body = worker.acquireQueue()
        request.begin(length: length, into: body)
        if let message { body.append(message) }
        let isWhole = end && body.isEmpty && upstream.hasEnvelopes
        self.request = request
        if upstream.hasEnvelopes {
            stream?.send(head: translated, end: isWhole)
            worker.release(translated)
        } else {
            (requestHead, extractor) = (translated, MessageExtractor())
        }
        if !isWhole { pass(body, end: end) }
        worker.release(body)
    }

    func send(body: Span<UInt8>) {
        // The message of a GET is in its query; bytes behind it would pass for another one.
        guard caller != .connectGet else { return }
        if request?.passes == true, converter == nil, extractor == nil { return passChecked(body) }
        guard var request else { return }
        self.request = nil
        let output = worker.acquireQueue()
        do throws(RPCError) {
            try request.add(body, into: output)
            self.request = request
            pass(output, end: false)
        } catch {
            fail(.untranslatedRequest(error))
        }
        worker.release(output)
        pieceCame()
    }

    func sendEnd(trailers: HTTPHead?) {
        guard var request = request.take() else { return }
        let output = worker.acquireQueue()
        do throws(RPCError) {
            try request.end(into: output)
            pass(output, end: true)
        } catch {
            fail(.untranslatedRequest(error))
        }
        worker.release(output)
    }

    /// Sends a piece of the body as it is, unless the caller's protocol does not allow one of its envelopes.
    private func passChecked(_ body: Span<UInt8>) {
        do throws(RPCError) {
            try request?.check(body)
            stream?.send(body: body)
        } catch {
            fail(.untranslatedRequest(error))
        }
    }

    /// Sends envelopes to the upstream, with their messages in its codec.
    private func pass(_ envelopes: ByteQueue, end: Bool) {
        guard converter != nil || extractor != nil else { return send(envelopes.readable, end: end) }
        let (converted, output) = (worker.acquireQueue(), worker.acquireQueue())
        do throws(RPCError) {
            try converter?.add(envelopes.readable, on: worker, into: converted)
            if end, converter?.canEnd == false {
                throw RPCError(.invalidArgument, "the request ends in the middle of a message")
            }
            let ready = converter == nil ? envelopes : converted
            try extractor?.add(ready.readable, into: output)
            if end { try extractor?.end() }
            send((extractor == nil ? ready : output).readable, end: end)
        } catch {
            fail(.untranslatedRequest(error))
        }
        worker.release(converted)
        worker.release(output)
    }

    private func send(_ bytes: Span<UInt8>, end: Bool) {
        if let envelope = extractor?.envelope, let head = requestHead.take() {
            head.contentLength = Int(envelope.length)
            if envelope.flags & Envelope.compressed == 0 { head.remove(upstream.encodingField) }
            stream?.send(head: head, end: false)
            worker.release(head)
        }
        if !bytes.isEmpty { stream?.send(body: bytes) }
        if end { stream?.sendEnd(trailers: nil) }
    }

    /// A piece has come, of either direction: what is held of a message waits for the next one.
    func pieceCame() {
        let held = (request?.heldBytes ?? 0) + (converter?.heldBytes ?? 0) + response.heldBytes
        heldSince = held > 0 ? worker.context.loop.now : .max
    }

    /// The call fails: what has come cannot be translated.
    func fail(_ error: UpstreamError) {
        release()
        let stream = self.stream.take()
        attempt.streamFailed(error)
        stream?.reset(.canceled)
    }

    /// The exchange is over for the upstream: the stream is its connection's again, unless it still reads the request.
    func forgetStream() {
        if stream?.isReadOn != true { stream = nil }
    }

    /// Nothing more comes of the response.
    func responseIsOver() {
        if stream == nil { release() } else { response.release(to: worker.context) }
    }

    /// Nothing more is sent or comes.
    func release() {
        (request, converter, extractor) = (nil, nil, nil)
        if let head = requestHead.take() { worker.release(head) }
        if let queue = requestQueue.take() { worker.release(queue) }
        if let queue = converterQueue.take() { worker.release(queue) }
        response.release(to: worker.context)
    }

    // MARK: What is asked of the stream

    var version: HTTPVersion { stream?.version ?? .http2 }
    var queuedBytes: Int { stream?.queuedBytes ?? 0 }
    var isCrowded: Bool { stream?.isCrowded ?? false }
    var heldBytes: Int {
        (stream?.heldBytes ?? 0) + (request?.heldBytes ?? 0) + (converter?.heldBytes ?? 0) + response.heldBytes
    }
    var waitsSince: Instant { min(stream?.waitsSince ?? .max, heldSince) }
    var isReadOn: Bool { stream?.isReadOn ?? false }

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
            throw .unknownCompression(.request)
        }
        // It becomes a part of a field.
        guard FieldName.isValid(String(decoding: parsed.codecName(in: query), as: UTF8.self)) else {
            throw RPCError(.invalidArgument, "the codec in the query is not a valid name")
        }
        return try parsed.message(in: query)
    }
}
