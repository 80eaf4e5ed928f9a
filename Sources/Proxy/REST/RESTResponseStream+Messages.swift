internal import Bytes
internal import Documents
internal import HTTP
internal import Protocols
internal import RPC
internal import Types

/// A response that is a stream of messages.
extension RESTResponseStream {
    func read(_ bytes: Span<UInt8>) {
        // Not in the stream's hands while it is lent. What it holds is released with the exchange, and not read behind that.
        guard var messages = messages.take() else { return }
        var position = 0
        while !isOver, end == nil, let event = messages.next(in: bytes, from: &position) {
            do throws(RPCError) {
                switch event {
                case .message(let flags, let location):
                    guard flags & Envelope.compressed == 0 else {
                        throw RPCError(.internal, "the upstream compressed a message, which nobody has asked for")
                    }
                    let message = messages.bytes(at: location, in: bytes)
                    try send(message: message)
                case .end(_, let location):
                    let payload = messages.bytes(at: location, in: bytes)
                    end = Outcome(.json(payload.array, fallback: .unknown, isEndStream: true))
                case .error(let error): throw error
                case .pass: break
                }
            } catch {
                undeliverable(error)
            }
        }
        if !isOver { self.messages = messages }
    }

    private func send(message: Span<UInt8>) throws(RPCError) {
        if binding.method.response.isHTTPBody { return try sendPiece(parsed(message)) }
        guard case .field(let field) = binding.responseBody else { return send(line: message) }
        let value = try parsed(message).value(at: field.steps[...])
        if field.isHTTPBody { return try sendPiece(value) }
        let json = value?.bytes ?? field.absent
        send(line: json.span)
    }

    private func send(line json: Span<UInt8>) {
        begin(type)
        let line = worker.acquireQueue()
        line.append(wantsEvents ? "data: " : "")
        line.append(line: json)
        line.append(wantsEvents ? "\n\n" : "\n")
        stream?.send(body: line.readable)
        worker.release(line)
    }

    /// A piece of a body of another type, which the first one names.
    private func sendPiece(_ message: JSONValue?) throws(RPCError) {
        let piece = try HTTPBody(message, orError: .internal)
        begin(piece.contentType)
        let data = piece.data
        if !data.isEmpty { stream?.send(body: data.span) }
    }

    /// Sends the head, if it still waits.
    private func begin(_ type: [UInt8]) {
        guard let head = head.take() else { return }
        head.set(Self.contentType, type.span)
        for name in Self.ofConnect { head.remove(name) }
        head.contentLength = nil
        head.setReason(Span())
        stream?.send(head: head, end: false)
        worker.release(head)
    }

    /// The body is over.
    func endMessages() {
        guard let end else { return undeliverable(RPCError(.internal, "the response ended without its end")) }
        if let error = end.error(trailers: HTTPHead()) {
            fail(error)
            return
        }
        begin(type)
        let stream = stream
        finished()
        stream?.sendEnd(trailers: nil)
    }

    private var type: [UInt8] {
        Array((wantsEvents ? "text/event-stream" : "application/x-ndjson").utf8)
    }

    private static let ofConnect = ["connect-content-encoding", "connect-accept-encoding"].map { FieldName($0) }
}

extension ByteQueue {
    /// Appends JSON as one line: line ends in it can only be white space.
    fileprivate func append(line json: Span<UInt8>) {
        for index in json.indices {
            let isEnd = json[index] == UInt8(ascii: "\n") || json[index] == UInt8(ascii: "\r")
            append(byte: isEnd ? UInt8(ascii: " ") : json[index])
        }
    }
}
