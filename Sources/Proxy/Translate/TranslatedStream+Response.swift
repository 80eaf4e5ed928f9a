internal import Bytes
internal import Compressors
internal import HTTP
internal import Protocols
internal import RPC
internal import Time

/// The way of a response to the caller.
extension TranslatedStream: AttemptStreamUser {
    func received(informational head: HTTPHead) {
        attempt.received(informational: head)
    }

    func received(head: HTTPHead, end: Bool) {
        attempt.headCame(status: head.status)
        if end {
            forgetStream()
            guard !attempt.drops(head, in: upstream) else { return worker.release(head) }
        }
        response.begin(
            head,
            from: upstream,
            acceptedCompressions,
            needsMessages: conversion != nil || !caller.hasEnvelopes,
            limit: messageLimit
        )
        do throws(RPCError) {
            if upstream.isUnaryConnect {
                try ConnectEnd.moveTrailers(of: head, to: collectedTrailers())
            } else if head.first(.grpcStatus) != nil {
                head.moveTrailers(to: collectedTrailers())
            }
        } catch {
            worker.release(head)
            return fail(.untranslatedResponse(error))
        }
        if upstream.family == .connect { head.removeOutcomeFields() }
        if end { return finish(head, response.reader.end(), trailers: nil) }
        // What is no response of the protocol says what it is at its end, and what has one message waits for the status.
        guard caller.hasEnvelopes, upstream.hasEnvelopes, response.reader.hasMessages else {
            response.head = head
            return
        }
        translate(head)
        attempt.received(head: head, end: false)
    }

    func received(body: Span<UInt8>) {
        response.reader.body(body)
        guard upstream.hasEnvelopes else { return hold(body) }
        guard response.reader.hasMessages, var messages = response.messages.take() else { return }
        var position = 0
        while let event = messages.next(in: body, from: &position) {
            switch event {
            case .message(let flags, let location):
                do throws(RPCError) {
                    try receive(messages.bytes(at: location, in: body), flags)
                } catch {
                    return fail(.untranslatedResponse(error))
                }
            case .pass(let location): deliver(messages.bytes(at: location, in: body))
            case .end(let flags, let location):
                do throws(RPCError) {
                    try endCame(messages.bytes(at: location, in: body), flags)
                } catch {
                    return fail(.untranslatedResponse(error))
                }
            case .error(let error): return fail(.untranslatedResponse(error))
            }
            guard !attempt.isOver else { return }
        }
        response.messages = messages
        pieceCame()
    }

    func receivedEnd(trailers: HTTPHead?) {
        forgetStream()
        let conclusion =
            if let trailers { response.reader.end(trailers: trailers) } else { response.reader.end() }
        finish(response.head.take(), conclusion, trailers: trailers)
    }

    func wasReset(_ reason: HTTPReset) {
        forgetStream()
        release()
        attempt.wasReset(reason)
    }

    func wantsBody() { attempt.wantsBody() }
    func headCame(status: Int) { attempt.headCame(status: status) }
    func drops(_ head: HTTPHead, in rpcProtocol: RPCProtocol) -> Bool { attempt.drops(head, in: rpcProtocol) }

    func streamFailed(_ error: UpstreamError) {
        forgetStream()
        release()
        attempt.streamFailed(error)
    }

    func drained() { attempt.drained() }
    var isBehind: Bool { attempt.isBehind }

    var needsInputBeforeReset: Bool { attempt.needsInputBeforeReset }

    // MARK: Messages

    /// Messages pass with their envelopes.
    func deliver(_ bytes: Span<UInt8>) {
        guard caller == .grpcWebText else { return attempt.received(body: bytes) }
        let text = worker.acquireQueue()
        text.append(base64: bytes, padded: true)
        attempt.received(body: text.readable)
        worker.release(text)
    }

    /// A message is whole; it is converted or decompressed if it has to be.
    private func receive(_ payload: Span<UInt8>, _ flags: UInt8) throws(RPCError) {
        guard changesMessages else { return keep(payload, flags) }
        let compression = flags & Envelope.compressed == 0 ? .identity : response.compression
        let (message, envelope) = (worker.acquireQueue(), worker.acquireQueue())
        defer {
            worker.release(message)
            worker.release(envelope)
        }
        try appendChanged(payload, compression, to: message)
        guard caller.hasEnvelopes else { return keep(message.readable, 0) }
        envelope.append(enveloping: message.readable, flags: 0)
        deliver(envelope.readable)
    }

    /// Whether messages of the response are converted or decompressed.
    var changesMessages: Bool { conversion != nil || response.isDecompressed }

    /// Appends a message of the response as the caller reads it, without compression.
    func appendChanged(
        _ payload: Span<UInt8>,
        _ compression: Compression,
        to output: ByteQueue
    ) throws(RPCError) {
        if let conversion {
            try conversion.append(payload, compression, .response, on: worker, to: output)
        } else {
            try worker.decompress(payload, from: compression, .response, limit: messageLimit, to: output)
        }
    }

    /// The trailers that have come so far.
    func collectedTrailers() -> HTTPHead {
        let trailers = response.trailers ?? worker.acquireHead()
        response.trailers = trailers
        return trailers
    }

    /// A bare body waits for its end, whether it is a message or the JSON of an error.
    private func hold(_ body: Span<UInt8>) {
        let queue = response.message ?? worker.acquireQueue()
        response.message = queue
        guard queue.count + body.count <= messageLimit else {
            let problem = "a response message exceeds limits.held_message (\(messageLimit) bytes)"
            return fail(.untranslatedResponse(RPCError(.resourceExhausted, problem)))
        }
        queue.append(body)
        pieceCame()
    }

    /// The message waits for the status; of more than one, which are an error, the first is enough.
    private func keep(_ payload: Span<UInt8>, _ flags: UInt8) {
        guard response.message == nil else { return }
        let queue = worker.acquireQueue()
        queue.append(payload)
        response.message = queue
        response.isCompressed = flags & Envelope.compressed != 0
    }
}
