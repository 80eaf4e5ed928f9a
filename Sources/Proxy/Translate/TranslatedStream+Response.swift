internal import Bytes
internal import Compressors
internal import HTTP
internal import Protocols
internal import RPC
internal import Time

/// The way of a response in gRPC or gRPC-Web to a caller that speaks something else.
extension TranslatedStream: HTTPStreamUser {
    func received(informational head: HTTPHead) {
        attempt.received(informational: head)
    }

    func received(head: HTTPHead, end: Bool) {
        attempt.headCame()
        response.reader.read(head, upstream)
        response.status = head.status
        response.compression = head.compression(upstream)
        response.headFields = head.takeTrailers()
        if end {
            forgetStream()
            return finish(head, response.reader.end(), trailers: nil)
        }
        // What is no response of the protocol says what it is at its end, and what has one message waits for the status.
        guard caller.hasEnvelopes, response.reader.hasMessages else {
            response.head = head
            return
        }
        translate(head)
        attempt.received(head: head, end: false)
    }

    func received(body: Span<UInt8>) {
        response.reader.body(body)
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
            case .end(let flags, let location): endCame(messages.bytes(at: location, in: body), flags)
            case .error(let error): return fail(.untranslatedResponse(error))
            }
            guard !attempt.isOver else { return }
        }
        response.messages = messages
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

    func drained() { attempt.drained() }
    var isBehind: Bool { attempt.isBehind }

    // MARK: Messages

    /// Messages pass with their envelopes.
    private func deliver(_ bytes: Span<UInt8>) {
        guard caller == .grpcWebText else { return attempt.received(body: bytes) }
        let text = worker.acquireQueue()
        text.append(base64: bytes, padded: true)
        attempt.received(body: text.readable)
        worker.release(text)
    }

    /// A message is whole; it is converted if it has to be.
    private func receive(_ payload: Span<UInt8>, _ flags: UInt8) throws(RPCError) {
        guard let conversion else { return keep(payload, flags) }
        let compression = flags & Envelope.compressed == 0 ? .identity : response.compression
        let (message, envelope) = (worker.acquireQueue(), worker.acquireQueue())
        defer {
            worker.release(message)
            worker.release(envelope)
        }
        try conversion.append(payload, compression, .response, on: worker, to: message)
        guard caller.hasEnvelopes else { return keep(message.readable, 0) }
        envelope.append(enveloping: message.readable, flags: 0)
        deliver(envelope.readable)
    }

    /// The message waits for the status; of more than one, which are an error, the first is enough.
    private func keep(_ payload: Span<UInt8>, _ flags: UInt8) {
        guard response.message == nil else { return }
        let queue = worker.acquireQueue()
        queue.append(payload)
        response.message = queue
        response.isCompressed = flags & Envelope.compressed != 0
    }

    // MARK: The end

    /// The frame that ends the body; one that cannot be decompressed says nothing.
    private func endCame(_ payload: Span<UInt8>, _ flags: UInt8) {
        guard flags & Envelope.compressed != 0 else {
            response.endFields = TrailerLines.fields(of: payload)
            return
        }
        let plain = worker.acquireQueue()
        response.endFields = []
        let compression = response.compression
        if Compressor.supports(compression), compression != .identity,
            (try? worker.compressor.decompress(payload, from: compression, into: plain, limit: messageLimit)) != nil
        {
            response.endFields = TrailerLines.fields(of: plain.readable)
            response.reader.end(decompressed: plain.readable)
        }
        worker.release(plain)
    }

    /// The response is over; `head` is there if it has not gone out.
    private func finish(_ head: HTTPHead?, _ conclusion: Conclusion, trailers: HTTPHead?) {
        if response.reader.hasMessages, response.messages?.isBetweenMessages != true {
            if let head { worker.release(head) }
            return fail(.untranslatedResponse(RPCError(.internal, "the response ends in the middle of a message")))
        }
        let end = TranslatedEnd(
            conclusion,
            arrived: arrived(trailers),
            status: response.status,
            messages: caller.hasEnvelopes ? nil : response.reader.messages
        )
        if !caller.hasEnvelopes, let head {
            finishUnary(head, end)
        } else if let head {
            finishWithoutMessages(head, end)
        } else {
            finishStream(end)
        }
        release()
    }

    /// The trailers: of those that have stood in the head, the outcome counts if none comes later.
    private func arrived(_ trailers: HTTPHead?) -> [(name: [UInt8], value: [UInt8])] {
        guard let fields = response.endFields ?? trailers?.pairs else { return response.headFields }
        return fields + response.headFields.filter { !TranslatedEnd.outcome.contains($0.name) }
    }

    /// A Connect response with one message, or with the JSON of an error.
    private func finishUnary(_ head: HTTPHead, _ end: TranslatedEnd) {
        translate(head)
        if end.error != nil || !response.isCompressed { head.remove(Self.contentEncoding) }
        for (name, value) in end.trailers { head.add(name: (Array("trailer-".utf8) + name).span, value: value.span) }
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
        head.set(Self.contentType, Array("application/json".utf8).span)
        let body = worker.acquireQueue()
        body.append(own.body)
        return body
    }

    /// The head is all there is, or all that was of use.
    private func finishWithoutMessages(_ head: HTTPHead, _ end: TranslatedEnd) {
        translate(head)
        head.remove(Self.contentEncoding)
        guard caller != .grpc else {
            for (name, value) in end.fields { head.add(name: name.span, value: value.span) }
            return attempt.received(head: head, end: true)
        }
        attempt.received(head: head, end: false)
        if !attempt.isOver { finishStream(end) }
    }

    /// The end of a stream whose messages have gone out.
    private func finishStream(_ end: TranslatedEnd) {
        switch caller {
        case .grpc:
            let trailers = worker.acquireHead()
            for (name, value) in end.fields { trailers.add(name: name.span, value: value.span) }
            attempt.receivedEnd(trailers: trailers)
            worker.release(trailers)
        default:
            let isConnect = caller == .connectStream
            let error = isConnect ? end.error.map { CallerSide.EndError.made($0) } : nil
            let frame = caller.callerSide.endFrame(error: error, fields: isConnect ? end.trailers : end.fields)
            attempt.received(body: frame.span)
            if !attempt.isOver { attempt.receivedEnd(trailers: nil) }
        }
    }

    private func translate(_ head: HTTPHead) {
        let codec = codec
        head.translateResponse(from: upstream, to: caller, codec: codec.span)
        if conversion != nil { head.removeEncoding(caller) }
    }

    private static let contentType = FieldName("content-type")
    private static let contentEncoding = FieldName("content-encoding")
}
