internal import Bytes
internal import Compressors
internal import HTTP
internal import Protocols
internal import RPC

/// How a call ends for its caller.
extension TranslatedStream {
    /// The frame that ends the body; one that cannot be decompressed says nothing.
    ///
    /// - Throws: what the caller is told about one that is none.
    func endCame(_ payload: Span<UInt8>, _ flags: UInt8) throws(RPCError) {
        let plain = worker.acquireQueue()
        defer { worker.release(plain) }
        let trailers = collectedTrailers()
        // What has stood in the head counts only if nothing comes later.
        trailers.removeOutcomeFields()
        if flags & Envelope.compressed == 0 {
            plain.append(payload)
        } else {
            let compression = response.compression
            guard Compressor.supports(compression), compression != .identity,
                (try? worker.compressor.decompress(payload, from: compression, into: plain, limit: messageLimit)) != nil
            else { return }
        }
        // The reader itself keeps no more than 64 KiB.
        response.reader.end(decompressed: plain.readable)
        if upstream.family == .connect {
            guard let metadata = ConnectEnd.metadata(plain.readable) else {
                throw RPCError(.internal, "the end of the response is no JSON object")
            }
            try trailers.add(foreign: metadata)
        } else {
            try trailers.add(foreign: TrailerLines.fields(of: plain.readable))
        }
    }

    /// The response is over; `head` is there if it has not gone out.
    func finish(_ head: HTTPHead?, _ conclusion: Conclusion, trailers: HTTPHead?) {
        if upstream.hasEnvelopes, response.reader.hasMessages, response.messages?.isBetweenMessages != true {
            if let head { worker.release(head) }
            return fail(.untranslatedResponse(RPCError(.internal, "the response ends in the middle of a message")))
        }
        guard let end = end(conclusion, trailers) else {
            if let head { worker.release(head) }
            return
        }
        if !caller.hasEnvelopes, let head {
            finishUnary(head, end)
        } else if let head, end.error == nil, let message = response.message.take() {
            finishWithMessage(head, message, end)
        } else if let head {
            finishWithoutMessages(head, end)
        } else {
            finishStream(end)
        }
        responseIsOver()
    }

    /// How the call has ended; none if the message that came last cannot be converted, which is how it ends then.
    private func end(_ conclusion: Conclusion, _ trailers: HTTPHead?) -> TranslatedEnd? {
        guard upstream.family == .connect else {
            let messages = caller.hasEnvelopes ? nil : response.reader.messages
            return TranslatedEnd(
                conclusion,
                trailers: arrived(trailers),
                status: response.status,
                messages: messages
            )
        }
        let error = ConnectEnd.error(
            upstream.hasEnvelopes ? conclusion : bareConclusion(conclusion),
            status: response.status
        )
        if error == nil, !upstream.hasEnvelopes, !bareMessageCame() { return nil }
        return TranslatedEnd(connect: error, trailers: response.trailers)
    }

    /// The outcome with the JSON of an error, which may be compressed, or more than a reader keeps.
    private func bareConclusion(_ conclusion: Conclusion) -> Conclusion {
        let code = conclusion.code(fromName: nil)
        guard code != .ok, let body = response.message, Compressor.supports(response.compression) else {
            return conclusion
        }
        let plain = worker.acquireQueue()
        defer { worker.release(plain) }
        do throws(DecompressionError) {
            let compression = response.compression
            try worker.compressor.decompress(body.readable, from: compression, into: plain, limit: messageLimit)
        } catch {
            return conclusion
        }
        return .json(plain.readable.array, fallback: code, isEndStream: false)
    }

    /// The bare message is whole; it is converted if it has to be.
    ///
    /// - Returns: whether it could be.
    private func bareMessageCame() -> Bool {
        let message = response.message ?? worker.acquireQueue()
        response.message = message
        response.isCompressed = response.compression != .identity && !message.isEmpty
        guard changesMessages else { return true }
        let converted = worker.acquireQueue()
        do throws(RPCError) {
            try appendChanged(message.readable, response.compression, to: converted)
        } catch {
            worker.release(converted)
            fail(.untranslatedResponse(error))
            return false
        }
        worker.release(message)
        (response.message, response.isCompressed) = (converted, false)
        return true
    }

    /// The trailers: of those that have stood in the head, the outcome counts if none comes later.
    private func arrived(_ trailers: HTTPHead?) -> HTTPHead? {
        guard let collected = response.trailers else { return trailers }
        guard let trailers, upstream == .grpc else { return collected }
        collected.replaceOutcome(by: trailers)
        return collected
    }

    /// A Connect response with one message, or with the JSON of an error.
    private func finishUnary(_ head: HTTPHead, _ end: TranslatedEnd) {
        translate(head)
        if end.error != nil || !response.isCompressed { head.remove(.contentEncoding) }
        end.forEachTrailer(withOutcome: false) { head.add(name: "trailer-", $0, value: $1) }
        let body = unaryBody(head, end.error)
        head.contentLength = body.count
        let isEmpty = body.isEmpty
        attempt.received(head: head, end: isEmpty)
        if !isEmpty {
            attempt.received(body: body.readable)
            attempt.receivedEnd(trailers: nil)
        }
        worker.release(body)
    }

    /// The message, or the JSON of the error, of which the head says what it is.
    private func unaryBody(_ head: HTTPHead, _ error: RPCError?) -> ByteQueue {
        guard let error else { return response.message.take() ?? worker.acquireQueue() }
        let own = caller.callerSide.response(to: error, requestContentType: Span())
        head.status = own.status
        head.set(.contentType, "application/json")
        let body = worker.acquireQueue()
        body.append(own.body)
        return body
    }

    /// The one message of a success goes in an envelope.
    private func finishWithMessage(_ head: HTTPHead, _ message: ByteQueue, _ end: TranslatedEnd) {
        translate(head)
        attempt.received(head: head, end: false)
        if !attempt.isOver {
            let envelope = worker.acquireQueue()
            envelope.append(enveloping: message.readable, flags: response.isCompressed ? Envelope.compressed : 0)
            deliver(envelope.readable)
            worker.release(envelope)
        }
        worker.release(message)
        if !attempt.isOver { finishStream(end) }
    }

    /// The head is all there is, or all that was of use.
    private func finishWithoutMessages(_ head: HTTPHead, _ end: TranslatedEnd) {
        translate(head)
        head.remove(.contentEncoding)
        guard caller != .grpc else {
            end.forEachTrailer(withOutcome: true) { head.add(name: $0, value: $1) }
            return attempt.received(head: head, end: true)
        }
        attempt.received(head: head, end: false)
        if !attempt.isOver { finishStream(end) }
    }

    /// The end of a stream whose messages have gone out.
    private func finishStream(_ end: TranslatedEnd) {
        guard caller != .grpc else {
            let trailers = worker.acquireHead()
            end.forEachTrailer(withOutcome: true) { trailers.add(name: $0, value: $1) }
            attempt.receivedEnd(trailers: trailers)
            return worker.release(trailers)
        }
        let frame = worker.acquireQueue()
        if caller == .connectStream {
            let error = end.error.map { CallerSide.EndError.made($0) }
            frame.append(caller.callerSide.endFrame(error: error, fields: end.pairs))
        } else {
            let lines = worker.acquireQueue()
            end.forEachTrailer(withOutcome: true) { lines.append(trailerLine: $0, $1) }
            frame.append(message: lines.readable, flags: Envelope.trailers, in: caller)
            worker.release(lines)
        }
        attempt.received(body: frame.readable)
        worker.release(frame)
        if !attempt.isOver { attempt.receivedEnd(trailers: nil) }
    }

    func translate(_ head: HTTPHead) {
        head.translateResponse(from: upstream, to: caller, codec: codec)
        if changesMessages { head.remove(caller.encodingField) }
    }
}
