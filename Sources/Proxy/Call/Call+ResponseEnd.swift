internal import Bytes
internal import Documents
internal import HTTP
internal import Protocols
internal import RPC

/// The end of a response on its way out of the chain: written as the protocol has it, with what interceptors have changed.
extension Call {
    func responseEndLeaves(_ end: ResponseEnd) {
        sendHeldHead()
        if let head = response.hold.head {
            response.hold.head = nil
            sendHeld(head, end)
        } else if !response.isHeadLast, !sendEnd(end) {
            return conclude(Outcome(end.error ?? RPCError(.internal, "the response was interrupted")))
        }
        conclude(end.result)
    }

    // MARK: A whole response that was held

    private func sendHeld(_ head: HTTPHead, _ end: ResponseEnd) {
        if end.isReplaced {
            rewrite(head, end)
        } else if let frame = endFrame(end, in: responseProtocol) {
            let body = response.hold.body ?? worker.acquireQueue()
            response.hold.body = body
            body.append(frame)
        }
        let trailers = trailers(behind: head, end)
        // The length of a response that never has a body is that of another one.
        let isBare = !end.isReplaced && (callerLeg.wantsHeadOnly || head.status == 304)
        if flows.response.form != .bytes || end.isReplaced, !isBare {
            // HTTP/1.1 has trailers only behind chunks.
            head.contentLength = callerLeg.side.endsInTrailers || trailers != nil ? nil : response.hold.body?.count ?? 0
        }
        if rpcProtocol.isUnaryConnect { putBackTrailers(end.trailers, into: head) }
        let body = response.hold.body
        response.hold.body = nil
        let isWhole = body == nil && trailers == nil || callerLeg.wantsHeadOnly
        sendHead(head, end: isWhole)
        if end.trailers === flows.response.trailers, end.trailers === head { flows.response.trailers = nil }
        if !isWhole {
            if let body { sendBody(body.readable) }
            endBody(trailers: trailers)
        }
        if let body { worker.release(body) }
    }

    /// The trailers that HTTP has behind the body of a held response, if any.
    private func trailers(behind head: HTTPHead, _ end: ResponseEnd) -> HTTPHead? {
        let trailers = end.trailers
        switch rpcProtocol {
        // An error that is made here is told in the head alone.
        case .grpc where end.isReplaced: return nil
        case .grpc, .http: return trailers !== head && trailers.count > 0 ? trailers : nil
        default: return nil
        }
    }

    /// Makes the response one that tells of the error that was set, or of success; its trailers stay.
    private func rewrite(_ head: HTTPHead, _ end: ResponseEnd) {
        let rpcProtocol = rpcProtocol
        let received = received
        var type: [UInt8] = []
        if let index = received.first(.contentType) { type = received.value(at: index).array }
        let own = callerLeg.side.response(to: end.error, codec: codec, requestContentType: type.span)
        head.status = own.status
        head.setReason(Span())
        head.removeOutcome()
        for (name, _) in own.headers { head.remove(FieldName(String(decoding: name, as: UTF8.self))) }
        for (name, value) in own.headers { head.add(name: name.span, value: value.span) }
        addProxyStatus(to: head, end.result)
        if let old = response.hold.body.take() { worker.release(old) }
        if callerLeg.side.endsInTrailers { return moveTrailers(of: end, into: head) }
        let isFramed = rpcProtocol.hasEnvelopes && own.status == 200
        let content = isFramed ? endFrame(end, in: rpcProtocol) ?? [] : own.body
        guard !content.isEmpty else { return }
        let body = worker.acquireQueue()
        body.append(content)
        response.hold.body = body
    }

    private func moveTrailers(of end: ResponseEnd, into head: HTTPHead) {
        let trailers = end.trailers
        guard trailers !== head else { return }
        trailers.removeOutcome()
        for index in 0..<trailers.count { head.add(name: trailers.name(at: index), value: trailers.value(at: index)) }
    }

    func putBackTrailers(_ trailers: HTTPHead, into head: HTTPHead) {
        let prefix = Array("trailer-".utf8)
        for index in 0..<trailers.count {
            head.add(name: (prefix + trailers.name(at: index).array).span, value: trailers.value(at: index))
        }
    }

    // MARK: The end of a response that has gone out

    /// Sends the end; false if it could only be told by breaking the response off.
    private func sendEnd(_ end: ResponseEnd) -> Bool {
        if end.isReplaced, !rpcProtocol.hasEnvelopes || !standsBetweenMessages {
            endResponse(with: end.error ?? RPCError(.internal, ""), stands: false)
            return false
        }
        if let frame = endFrame(end, in: responseProtocol) {
            sendBody(frame.span)
            endBody(trailers: nil)
            return true
        }
        let trailers = end.trailers
        if end.isReplaced {
            trailers.setOutcome(end.error)
            addProxyStatus(to: trailers, end.result)
        }
        endBody(trailers: trailers.count > 0 ? trailers : nil)
        return true
    }

    /// Sends the frame that has ended the body as it has come.
    func send(_ frame: EndFrame) {
        let body = worker.acquireQueue()
        body.append(message: frame.payload.span, flags: frame.flags, in: responseProtocol)
        sendBody(body.readable)
        worker.release(body)
    }

    // MARK: The frame that ends a body

    /// The frame that has ended the body, where it was taken out of that; good as long as the error is not replaced.
    func arrivedEndFrame(_ end: ResponseEnd) -> [UInt8]? {
        response.endFrame == nil ? nil : endFrame(end, in: responseProtocol)
    }

    /// The frame that ends a body of `rpcProtocol`: as it has come, or, if something of the end has changed, written of what
    /// the end is now; none where there is none.
    private func endFrame(_ end: ResponseEnd, in rpcProtocol: RPCProtocol) -> [UInt8]? {
        let side = rpcProtocol.callerSide
        guard side.endsInBody, response.endFrame != nil || end.isReplaced else { return nil }
        let trailers = end.trailers
        if let frame = response.endFrame, !end.isReplaced, trailers.editCount == 0 || frame.content == nil {
            let body = ByteQueue()
            body.append(message: frame.payload.span, flags: frame.flags, in: rpcProtocol)
            return body.readable.array
        }
        if rpcProtocol != .connectStream, end.isReplaced { trailers.setOutcome(end.error) }
        return side.endFrame(error: end.reported, fields: trailers.pairs)
    }
}

extension ResponseEnd {
    /// The error as the frame that ends a Connect stream has it: every end that is not a success has one.
    fileprivate var reported: CallerSide.EndError? {
        if !isReplaced, let json = result.json { return .arrived(json.bytes) }
        return error.map { .made($0) }
    }
}
