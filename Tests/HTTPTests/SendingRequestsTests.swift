import HTTP
import Testing

/// The bytes that a request becomes.
@Suite struct SendingRequestsTests {
    private func stream() throws -> (ScriptedUpstream, any HTTPStream) {
        let upstream = ScriptedUpstream()
        return (upstream, try #require(upstream.opens().stream))
    }

    @Test func `a request without a body`() throws {
        let (upstream, stream) = try stream()
        stream.send(head: Message.request("GET", "/x?y", ["accept": "*/*"]), end: true)
        #expect(upstream.receive() == "GET /x?y HTTP/1.1\r\nhost: a\r\naccept: */*\r\n\r\n")
    }

    @Test(arguments: ["POST", "PUT", "PATCH"])
    func `a method that expects a body says that there is none`(method: String) throws {
        let (upstream, stream) = try stream()
        stream.send(head: Message.request(method), end: true)
        #expect(upstream.receive() == "\(method) / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n")
    }

    @Test func `a body whose length is known`() throws {
        let (upstream, stream) = try stream()
        stream.send(head: Message.request(length: 5), end: false)
        stream.send(body: "hel")
        stream.send(body: "lo")
        stream.sendEnd(trailers: Message.trailers(["x": "1"]))
        #expect(upstream.receive() == "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nhello")
    }

    @Test func `an expectation is for the upstream to meet`() throws {
        let (upstream, stream) = try stream()
        let head = Message.request(length: 2)
        head.expectsContinue = true
        stream.send(head: head, end: false)
        #expect(upstream.receive() == "POST / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n")
    }

    @Test func `a body whose length is not known, with trailers`() throws {
        let (upstream, stream) = try stream()
        let head = Message.request()
        head.acceptsTrailers = true
        stream.send(head: head, end: false)
        stream.send(body: "hello")
        stream.send(body: "")
        stream.sendEnd(trailers: Message.trailers(["x": "1"]))
        #expect(
            upstream.receive() == "POST / HTTP/1.1\r\nhost: a\r\nte: trailers\r\nconnection: te\r\n"
                + "transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nx: 1\r\n\r\n"
        )
    }

    @Test func `a body is cut at the length that was said, and the connection is not used again`() throws {
        let (upstream, stream) = try stream()
        stream.send(head: Message.request(length: 2), end: false)
        stream.send(body: "hiGET /smuggled HTTP/1.1\r\n\r\n")
        stream.sendEnd(trailers: nil)
        #expect(upstream.receive().hasSuffix("\r\n\r\nhi"))
        upstream.responses("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        #expect(upstream.saw.suffix(2) == ["end", "closed"])
    }

    @Test func `a body shorter than was said breaks the exchange, or the next request would become its rest`() throws {
        let (upstream, stream) = try stream()
        stream.send(head: Message.request(length: 5), end: false)
        stream.send(body: "hi")
        stream.sendEnd(trailers: nil)
        #expect(upstream.saw == ["closed", "reset: canceled"])
    }

    @Test func `nothing is sent out of order, or after a reset`() throws {
        let (upstream, stream) = try stream()
        stream.send(body: "early")
        stream.send(head: Message.request(), end: false)
        stream.send(head: Message.request(), end: false)
        stream.reset(.canceled)
        stream.send(body: "late")
        stream.sendEnd(trailers: nil)
        #expect(upstream.receive() == "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n")
        #expect(upstream.saw == ["closed"])
    }
}
