import HTTP
import Testing

/// The bytes that a response becomes.
@Suite struct SendingResponsesTests {
    private func stream(for request: String = "GET / HTTP/1.1\r\nHost: a\r\n\r\n") throws -> (
        ScriptedCaller, any HTTPStream
    ) {
        let caller = ScriptedCaller()
        caller.sends(request)
        return (caller, try #require(caller.users.first?.stream))
    }

    @Test func `a body whose length is known has the length`() throws {
        let (caller, stream) = try stream()
        stream.response(200, ["content-type": "text/plain"], body: "hello")
        #expect(caller.receive() == "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 5\r\n\r\nhello")
        #expect(caller.saw.last == "idle")
    }

    @Test func `a body whose length is not known comes in chunks, with trailers`() throws {
        let (caller, stream) = try stream()
        stream.send(head: Message.response(200), end: false)
        stream.send(body: "hello")
        stream.send(body: "")
        stream.send(body: String(repeating: "x", count: 17))
        stream.sendEnd(trailers: Message.trailers(["x-sum": "7"]))
        let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
        #expect(caller.receive() == head + "5\r\nhello\r\n11\r\nxxxxxxxxxxxxxxxxx\r\n0\r\nx-sum: 7\r\n\r\n")
        #expect(caller.saw.last == "idle")
    }

    @Test func `a response that ends with its head has no body`() throws {
        let (caller, stream) = try stream()
        stream.send(head: Message.response(404, length: 5), end: true)
        #expect(caller.receive() == "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
    }

    @Test func `the reason of the upstream is kept`() throws {
        let (caller, stream) = try stream()
        let head = Message.response(299, length: 0)
        head.setReason("Fine By Me".bytes.span)
        stream.send(head: head, end: true)
        #expect(caller.receive() == "HTTP/1.1 299 Fine By Me\r\ncontent-length: 0\r\n\r\n")
    }

    @Test(arguments: [(204, ""), (304, "content-length: 5\r\n")])
    func `a status without a body has none, whatever is sent`(status: Int, length: String) throws {
        let (caller, stream) = try stream()
        let head = Message.response(status, length: 5)
        head.setReason("X".bytes.span)
        stream.send(head: head, end: false)
        stream.send(body: "hello")
        stream.sendEnd(trailers: Message.trailers(["x": "1"]))
        #expect(caller.receive() == "HTTP/1.1 \(status) X\r\n\(length)\r\n")
        #expect(caller.saw.last == "idle")
    }

    @Test func `HEAD is answered with the length and without the body`() throws {
        let (caller, stream) = try stream(for: "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
        stream.response(200, body: "hello")
        #expect(caller.receive() == "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n")
        #expect(caller.saw.last == "idle")
    }

    @Test func `a caller of 1_0 gets a body of unknown length up to the end of the connection`() throws {
        let (caller, stream) = try stream(for: "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        stream.send(head: Message.response(200), end: false)
        stream.send(body: "hello")
        stream.sendEnd(trailers: Message.trailers(["x": "1"]))
        #expect(caller.receive() == "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhello")
        #expect(caller.isClosed)
    }

    @Test func `interim responses come before the response, and not to callers of 1_0`() throws {
        let (caller, stream) = try stream()
        stream.send(informational: Message.response(103, ["link": "</x>"], length: 5))
        stream.response(200)
        stream.send(informational: Message.response(103))
        #expect(
            caller.receive()
                == "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"
        )
        let (old, oldStream) = try self.stream(for: "GET / HTTP/1.0\r\n\r\n")
        oldStream.send(informational: Message.response(103))
        #expect(old.receive() == "")
    }

    @Test func `a body is cut at the length that was said, and the connection is not used again`() throws {
        let (caller, stream) = try stream()
        stream.send(head: Message.response(200, length: 5), end: false)
        stream.send(body: "hel")
        stream.send(body: "lo, HTTP/1.1 200 OK")
        stream.send(body: "more")
        stream.sendEnd(trailers: nil)
        #expect(caller.receive() == "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello")
        #expect(caller.isClosed)
    }

    @Test func `a body shorter than was said closes the connection`() throws {
        let (caller, stream) = try stream()
        stream.send(head: Message.response(200, length: 5), end: false)
        stream.send(body: "hel")
        stream.sendEnd(trailers: nil)
        #expect(caller.isClosed)
    }

    @Test func `nothing is sent out of order`() throws {
        let (caller, stream) = try stream()
        stream.send(body: "early")
        stream.sendEnd(trailers: nil)
        #expect(caller.receive() == "")
        stream.response(200)
        stream.send(head: Message.response(500), end: true)
        stream.send(body: "late")
        stream.sendEnd(trailers: nil)
        #expect(caller.receive() == "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
    }

    @Test func `nothing is sent after the connection is gone`() throws {
        let (caller, stream) = try stream()
        stream.send(head: Message.response(200), end: false)
        _ = caller.receive()
        caller.hangsUp()
        stream.send(body: "late")
        stream.sendEnd(trailers: nil)
        #expect(caller.receive() == "")
        #expect(caller.saw.suffix(2) == ["closed", "reset: connection lost"])
    }

    @Test func `the user is reported when what was queued has gone`() throws {
        let (caller, stream) = try stream()
        stream.send(head: Message.response(200), end: false)
        stream.send(body: "hello")
        #expect(stream.queuedBytes == 57)
        _ = caller.receive()
        #expect(stream.queuedBytes == 0)
        #expect(caller.saw.last == "drained")
    }
}
