internal import Bytes
internal import Dialects
internal import Documents
internal import HTTP
internal import RPC

/// The end of an answer on its way out of the chain: written as the dialect has it, with what interceptors have changed.
extension Call {
    func answerEndLeaves(_ end: ResponseEnd) {
        releaseHead()
        if let head = heldHead {
            heldHead = nil
            sendHeld(head, end)
        } else if !isHeadLast, !sendEnd(end) {
            return conclude(Outcome(end.error ?? RPCError(.internal, "the answer was broken off")))
        }
        conclude(end.result)
    }

    // MARK: A whole answer that was held

    private func sendHeld(_ head: HTTPHead, _ end: ResponseEnd) {
        if end.isReplaced { rewrite(head, end) } else { appendEndFrame(end) }
        let dialect = classification.dialect
        let hasTrailers = dialect == .grpc || dialect == .http
        let trailers = hasTrailers && end.trailers !== head && end.trailers.count > 0 ? end.trailers : nil
        if answerForm != .bytes || end.isReplaced {
            // HTTP/1.1 has trailers only behind chunks.
            head.contentLength = dialect == .grpc || trailers != nil ? nil : heldBody?.count ?? 0
        }
        if dialect.isUnaryConnect { putBackTrailers(end.trailers, into: head) }
        let body = heldBody
        heldBody = nil
        let request = request
        let isWhole = body == nil && trailers == nil || request.method.equals("HEAD")
        sendHead(head, end: isWhole)
        if end.trailers === answerTrailers, end.trailers === head { answerTrailers = nil }
        if !isWhole {
            if let body { sendBody(body.readable) }
            caller.sendEnd(trailers: trailers)
        }
        if let body { worker.give(body) }
    }

    /// Makes the answer one that tells of the error that was set, or of success.
    private func rewrite(_ head: HTTPHead, _ end: ResponseEnd) {
        let request = request
        var type: [UInt8] = []
        if let index = request.first(.contentType) { type = request.value(at: index).array }
        let answer = classification.dialect.answer(
            to: end.error,
            codec: classification.codec,
            requestContentType: type.span
        )
        head.status = answer.status
        head.setReason(Span())
        head.removeOutcome()
        for (name, _) in answer.headers { head.remove(FieldName(String(decoding: name, as: UTF8.self))) }
        for (name, value) in answer.headers { head.add(name: name.span, value: value.span) }
        addProxyStatus(to: head, end.result)
        if let heldBody { worker.give(heldBody) }
        heldBody = nil
        guard !answer.body.isEmpty else { return }
        let body = worker.takeQueue()
        body.append(answer.body)
        heldBody = body
    }

    private func appendEndFrame(_ end: ResponseEnd) {
        guard let frame = endFrame(end) else { return }
        let body = heldBody ?? worker.takeQueue()
        heldBody = body
        body.append(frame)
    }

    func putBackTrailers(_ trailers: HTTPHead, into head: HTTPHead) {
        let prefix = Array("trailer-".utf8)
        for index in 0..<trailers.count {
            head.add(name: (prefix + trailers.name(at: index).array).span, value: trailers.value(at: index))
        }
    }

    // MARK: The end of an answer that has gone out

    /// Sends the end; false if it could only be told by breaking the answer off.
    private func sendEnd(_ end: ResponseEnd) -> Bool {
        let dialect = classification.dialect
        if end.isReplaced {
            guard dialect.hasEnvelopes, standsBetweenMessages else {
                endAnswer(with: end.error ?? RPCError(.internal, ""), stands: false)
                return false
            }
        }
        if let frame = endFrame(end) {
            sendBody(frame.span)
            caller.sendEnd(trailers: nil)
            return true
        }
        let trailers = end.trailers
        if end.isReplaced {
            trailers.setOutcome(end.error)
            addProxyStatus(to: trailers, end.result)
        }
        caller.sendEnd(trailers: trailers.count > 0 ? trailers : nil)
        return true
    }

    /// Sends the frame that has ended the body as it has come.
    func send(_ frame: EndFrame) {
        let body = worker.takeQueue()
        body.append(message: frame.payload.span, flags: frame.flags, in: answerDialect)
        sendBody(body.readable)
        worker.give(body)
    }

    /// The frame that ends a body: the one that has come, or what it has been changed to; none where there is none.
    private func endFrame(_ end: ResponseEnd) -> [UInt8]? {
        let dialect = answerDialect
        guard dialect.hasEnvelopes, dialect != .grpc, answerEndFrame != nil || end.isReplaced else { return nil }
        let trailers = end.trailers
        if let frame = answerEndFrame, !end.isReplaced, trailers.editCount == 0 || frame.content == nil {
            let body = ByteQueue()
            body.append(message: frame.payload.span, flags: frame.flags, in: dialect)
            return body.readable.array
        }
        if dialect != .connectStream, end.isReplaced { trailers.setOutcome(end.error) }
        return dialect.endFrame(
            error: end.isReplaced ? end.error.map { .made($0) } : end.result.json.map { .arrived($0.bytes) },
            fields: trailers.pairs
        )
    }
}
