internal import Bytes
internal import Events
internal import HTTP
internal import Protocols
internal import RPC
internal import Telemetry
internal import Types

/// How a caller of REST hears of an error.
extension RESTResponseStream {
    /// Ends the response with an error: by the status if nothing has been sent, else in a last line.
    ///
    /// - Returns: false if the form of the response has no place for it.
    @discardableResult
    func fail(_ error: RPCError) -> Bool {
        guard let stream else { return true }
        let status = worker.acquireQueue()
        defer { worker.release(status) }
        status.append(status: error, types, worker.messageCodec, limit: limit)
        if let head {
            head.status = error.httpStatus ?? error.code.httpStatus
            call?.record.status = head.status
            head.set(Self.contentType, Array("application/json".utf8).span)
            finish(head, status.readable)
            return true
        }
        // Nothing tells an error from the bytes of a body of any type.
        guard sendsLines else { return false }
        let line = worker.acquireQueue()
        line.append(wantsEvents ? "event: error\ndata: {\"error\":" : "{\"error\":")
        line.append(status.readable)
        line.append(wantsEvents ? "}\n\n" : "}\n")
        finished()
        stream.send(body: line.readable)
        stream.sendEnd(trailers: nil)
        worker.release(line)
        return true
    }

    /// What has come through the chain cannot be given to the caller: it is told why, and the call ends with that.
    func undeliverable(_ error: RPCError) {
        guard !isOver else { return }
        if !fail(error) { reset(.code(.internalError)) }
        guard let call else { return }
        // Not now: the call is about to go on with what it sends.
        worker.context.atEndOfTurn(LateError(error, of: call))
    }

    /// Whether the body is lines, or events.
    private var sendsLines: Bool {
        guard form == .messages, !binding.method.response.isHTTPBody else { return false }
        if case .field(let field) = binding.responseBody { return !field.isHTTPBody }
        return true
    }
}

/// Ends a call whose response could not be given to its caller.
private final class LateError: EndOfTurn {
    private let error: RPCError
    private let call: Call

    init(_ error: RPCError, of call: Call) {
        (self.error, self.call) = (error, call)
    }

    func endOfTurn() {
        call.responseWasUndeliverable(error)
    }
}

extension Call {
    /// Ends the call, whose caller has been told of the error.
    fileprivate func responseWasUndeliverable(_ error: RPCError) {
        guard !isOver else { return }
        if error.code == .resourceExhausted { worker.counters.limitHit(.heldMessage) }
        endAttempts(.badResponse)
        record.message = Array(error.message.utf8)
        finish(code: error.code, by: .martlet)
    }
}
