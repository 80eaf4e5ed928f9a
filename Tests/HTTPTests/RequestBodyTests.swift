import HTTP
import Testing

/// What is told of a request's body, however its bytes are cut.
@Suite struct RequestBodyTests {
    private static let chunkedHead = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

    @Test func `a body with a length ends with its last byte`() {
        let bytes = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
        let seen = outcome(of: bytes) { .served() }
        #expect(seen?.saw == ["request POST / host=a length=5", "body hello", "end", "idle"])
    }

    @Test(arguments: [
        ("5\r\nhello\r\n0\r\n\r\n", ["body hello", "end", "idle"]),
        ("0\r\n\r\n", ["end", "idle"]),
        ("3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", ["body hello", "end", "idle"]),
        ("A\r\n0123456789\r\na\r\nabcdefghij\r\n00\r\n\r\n", ["body 0123456789abcdefghij", "end", "idle"]),
        ("00000000000005;a=b;c=\"d\"\r\nhello\r\n0;e\r\n\r\n", ["body hello", "end", "idle"]),
        ("2\r\n\r\n\r\n0\r\n\r\n", ["body \r\n", "end", "idle"]),
        ("1\r\nx\r\n0\r\nX-Sum: 7\r\nx-sum:8\r\n\r\n", ["body x", "end", "  x-sum: 7", "  x-sum: 8", "idle"]),
    ])
    func `chunks are taken apart`(bytes: String, saw: [String]) {
        let seen = outcome(of: Self.chunkedHead + bytes) { .served() }
        #expect(seen?.saw == ["request POST / host=a"] + saw)
    }

    @Test(arguments: [
        "Transfer-Encoding: chunked", "Content-Length: 5", "Host: b", "Connection: close", "Content-Type: text/html",
        "Content-Encoding: gzip", "Trailer: x", "TE: trailers", "Upgrade: h2c", "Expect: 100-continue", "Keep-Alive: 1",
    ])
    func `trailers that would mislead in the head are dropped`(field: String) {
        let seen = outcome(of: Self.chunkedHead + "0\r\n\(field)\r\nx-kept: 1\r\n\r\n") { .served() }
        #expect(seen?.saw == ["request POST / host=a", "end", "  x-kept: 1", "idle"])
    }

    @Test(arguments: [
        ("\r\n", HTTPError.chunkSize), ("x\r\n", .chunkSize), (" 5\r\nhello\r\n", .chunkSize),
        ("5 \r\nhello\r\n", .chunkSize),
        ("5 ;a\r\nhello\r\n", .chunkSize), ("+5\r\nhello\r\n", .chunkSize), ("-5\r\nhello\r\n", .chunkSize),
        ("0x5\r\nhello\r\n", .chunkSize), ("5\nhello\r\n", .chunkSize), ("5\r\r\nhello\r\n", .chunkSize),
        ("5,5\r\nhello\r\n", .chunkSize), ("5;a\u{0}\r\nhello\r\n", .chunkSize), ("5;a\rb\r\nhello\r\n", .chunkSize),
        ("5;a=\"\n\"\r\nhello\r\n", .chunkSize), ("1000000000000000\r\n", .chunkSize),
        ("ffffffffffffffff\r\n", .chunkSize),
        ("10000000000000005\r\nhello\r\n", .chunkSize), ("\u{665}\r\nhello\r\n", .chunkSize),
        ("5;" + String(repeating: "x", count: 300) + "\r\n", .chunkSize),
        (String(repeating: "0", count: 300), .chunkSize),
        ("0\r\nx y: 1\r\n\r\n", .fieldName), ("0\r\nx: 1\r\n 2\r\n\r\n", .obsoleteFolding),
        ("0\r\nx: 1\n\r\n", .bareLineFeed),
        ("0\r\n\n", .bareLineFeed), ("0\r\nx: \u{0}\r\n\r\n", .nullByte),
    ])
    func `a malformed chunk breaks the request off`(bytes: String, error: HTTPError) throws {
        let seen = try #require(outcome(of: Self.chunkedHead + bytes + RequestErrorTests.smuggled) { .rejecting() })
        #expect(seen.saw == ["request POST / host=a", "reset: fault \(error)", "closed, lingering"])
        #expect(seen.sent == "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
    }

    @Test(arguments: ["5\r\nhello!", "5\r\nhello\n\n", "5\r\nhello\r\r", "5\r\nhello0\r\n\r\n"])
    func `a chunk that does not end where it says breaks the request off`(bytes: String) throws {
        let seen = try #require(outcome(of: Self.chunkedHead + bytes + RequestErrorTests.smuggled) { .rejecting() })
        #expect(
            seen.saw == [
                "request POST / host=a", "body hello", "reset: fault \(HTTPError.chunkEnd)", "closed, lingering",
            ]
        )
    }

    @Test func `the trailers have the limits of a head`() {
        let limits = HTTPLimits(head: 100, fields: 4)
        let many = Self.chunkedHead + "0\r\n" + String(repeating: "te: x\r\n", count: 5) + "\r\n"
        #expect(outcome(of: many) { .rejecting(limits: limits) }?.saw[1] == "reset: fault \(HTTPError.tooManyFields)")
        let long = Self.chunkedHead + "0\r\nx: " + String(repeating: "y", count: 100)
        #expect(outcome(of: long) { .rejecting(limits: limits) }?.saw[1] == "reset: fault \(HTTPError.headTooLarge)")
    }

    @Test func `an error that the user does not respond to closes the connection`() {
        let caller = ScriptedCaller()
        caller.sends(Self.chunkedHead + "x\r\n")
        #expect(caller.saw == ["request POST / host=a", "reset: fault \(HTTPError.chunkSize)", "closed, lingering"])
        caller.hangsUp()
        #expect(caller.saw.count == 3)
        #expect(caller.receive() == "")
    }

    @Test func `a error behind a response that has begun breaks the response off`() {
        let caller = ScriptedCaller()
        caller.whenOpened = { _, stream in stream.send(head: Message.response(200), end: false) }
        caller.sends(Self.chunkedHead + "x\r\n")
        #expect(caller.isClosed)
        #expect(caller.receive() == "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
    }

    @Test(arguments: [nil, Int32(104)])
    func `an end in the middle of a body is reported`(errno: Int32?) {
        let caller = ScriptedCaller()
        caller.sends("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel")
        caller.hangsUp(errno: errno)
        let reason = errno.map { ", errno \($0)" } ?? ""
        #expect(caller.saw.suffix(3) == ["body hel", "closed", "reset: connection lost\(reason)"])
    }

    @Test func `bytes that come while a stream is paused are left, and given when it goes on`() throws {
        let caller = ScriptedCaller()
        caller.whenOpened = { _, stream in
            stream.pause(.noUpstream)
            stream.pause(.slowPeer)
        }
        caller.sends("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello")
        #expect(caller.saw.count == 1)
        #expect(caller.unread == 5)
        let stream = try #require(caller.users[0].stream)
        stream.resume(.noUpstream)
        caller.sends("")
        #expect(caller.unread == 5)
        stream.resume(.slowPeer)
        caller.sends("")
        #expect(caller.saw.suffix(2) == ["body hello", "end"])
    }
}

extension ScriptedCaller {
    /// A caller whose requests are answered with 400 when they turn out malformed.
    fileprivate static func rejecting(limits: HTTPLimits = HTTPLimits()) -> ScriptedCaller {
        let caller = ScriptedCaller(limits: limits)
        caller.whenOpened = { user, _ in user.whenReset = { $0.response(400) } }
        return caller
    }
}
