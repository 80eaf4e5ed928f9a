internal import Bytes

/// Writes heads, body framing and trailers in HTTP/1.1's form into a queue.
enum HTTP1Writer {
    /// Writes a request head.
    static func write(request head: HTTPHead, framing: HTTP1Framing, to queue: ByteQueue) {
        queue.append(head.method, " ", head.target, " HTTP/1.1\r\n")
        queue.append(Span(), "host: ", head.authority, "\r\n")
        head.joinCookies()
        writeFields(of: head, to: queue)
        if head.acceptsTrailers { queue.append("te: trailers\r\nconnection: te\r\n") }
        if head.expectsContinue, framing != .none { queue.append("expect: 100-continue\r\n") }
        if framing == .none, head.expectsLength { queue.append("content-length: 0\r\n") }
        writeFraming(framing, to: queue)
        queue.append("\r\n")
    }

    /// Writes the head of a response; `persistence` is a `connection` line or nothing.
    static func write(response head: HTTPHead, framing: HTTP1Framing, persistence: StaticString, to queue: ByteQueue) {
        queue.append("HTTP/1.1 ")
        queue.append(decimal: head.status)
        if head.reason.count > 0 {
            queue.append(Span(), " ", head.reason, "\r\n")
        } else {
            queue.append(Span(), " ", Span(), HTTP1Reason.phrase(head.status))
            queue.append("\r\n")
        }
        writeFields(of: head, to: queue)
        queue.append(persistence)
        if framing == .none, let length = head.contentLength, head.status >= 200, head.status != 204 {
            writeFraming(.length(length), to: queue)
        } else {
            writeFraming(framing, to: queue)
        }
        queue.append("\r\n")
    }

    /// Writes the end of a chunked body.
    static func write(lastChunkWith trailers: HTTPHead?, to queue: ByteQueue) {
        queue.append("0\r\n")
        if let trailers { writeFields(of: trailers, to: queue) }
        queue.append("\r\n")
    }

    private static func writeFields(of head: HTTPHead, to queue: ByteQueue) {
        var index = 0
        while index < head.count {
            let lines = head.lines(from: &index)
            if lines.count > 0 {
                queue.append(lines)
            } else {
                queue.append(head.name(at: index), ": ", head.value(at: index), "\r\n")
                index += 1
            }
        }
    }

    private static func writeFraming(_ framing: HTTP1Framing, to queue: ByteQueue) {
        switch framing {
        case .none, .untilEnd: break
        case .chunked: queue.append("transfer-encoding: chunked\r\n")
        case .length(let length):
            queue.append("content-length: ")
            queue.append(decimal: length)
            queue.append("\r\n")
        }
    }
}

extension HTTPHead {
    /// Whether HTTP/1.1 says that no body follows the head of the request (RFC 9110 §8.6).
    package var expectsLength: Bool {
        let method = method
        return method.equals("POST") || method.equals("PUT") || method.equals("PATCH")
    }
}
