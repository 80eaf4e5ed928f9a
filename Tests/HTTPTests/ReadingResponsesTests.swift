import HTTP
import Testing

/// What is told of an upstream's response, however its bytes are cut.
@Suite struct ReadingResponsesTests {
    @Test(arguments: [
        (
            "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 5\r\n\r\nhello",
            ["response 200 OK length=5", "  content-type: a/b", "body hello", "end", "idle"]
        ),
        ("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", ["response 200 length=0", "end", "idle"]),
        ("HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", ["response 200 length=0", "end", "idle"]),
        (
            "HTTP/1.1 299 Caf\u{e9}\t!\r\nContent-Length: 0\r\n\r\n",
            ["response 299 Caf\u{e9}\t! length=0", "end", "idle"]
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: t\r\n\r\n5\r\nhello\r\n0\r\nt: 1\r\n\r\n",
            ["response 200 OK", "body hello", "end", "  t: 1", "idle"]
        ),
        (
            "HTTP/1.1 200 OK\r\nConnection: close, x\r\nx: 1\r\ny: 2\r\nContent-Length: 2\r\n\r\nhi",
            ["response 200 OK length=2", "  y: 2", "body hi", "end", "closed"]
        ),
        ("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", ["response 200 OK length=2", "body hi", "end", "closed"]),
        (
            "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi",
            ["response 200 OK length=2", "body hi", "end", "idle"]
        ),
        ("HTTP/1.1 204 No Content\r\n\r\n", ["response 204 No Content", "end", "idle"]),
        (
            "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n",
            ["response 304 Not Modified length=5", "end", "idle"]
        ),
        (
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\nContent-Length: 9\r\n\r\n"
                + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            ["interim 100 Continue", "interim 103 Early Hints", "  link: x", "response 200 OK length=0", "end", "idle"]
        ),
        (
            "HTTP/1.1 426 Upgrade Required\r\nUpgrade: x\r\nContent-Length: 0\r\n\r\n",
            ["response 426 Upgrade Required length=0", "end", "idle"]
        ),
        (
            "HTTP/1.1 200 OK\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
            ["response 200 OK length=0", "  host: a", "end", "idle"]
        ),
    ])
    func `a response is read`(bytes: String, saw: [String]) throws {
        #expect(try #require(seen(of: bytes) { .asked() }) == saw)
    }

    @Test(arguments: ["Content-Length: 5", "Transfer-Encoding: chunked", "x: 1"])
    func `the response to HEAD has no body`(framing: String) throws {
        let saw = try #require(seen(of: "HTTP/1.1 200 OK\r\n\(framing)\r\n\r\n") { .asked("HEAD") })
        #expect(saw.first?.hasPrefix("response 200 OK") == true)
        #expect(saw.suffix(2) == ["end", "idle"])
    }

    @Test func `a body without a length goes to the end of the connection`() throws {
        let saw = try #require(seen(of: "HTTP/1.1 200 OK\r\n\r\nhello", ended: true) { .asked() })
        #expect(saw == ["response 200 OK", "body hello", "end", "closed"])
    }

    @Test(arguments: [
        ("", ["closed", "reset: connection lost"]), ("HTTP/1.1 20", ["closed", "reset: connection lost"]),
        ("HTTP/1.1 100 Continue\r\n\r\n", ["interim 100 Continue", "closed", "reset: connection lost"]),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel",
            ["response 200 OK length=5", "body hel", "closed", "reset: connection lost"]
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n0\r\n",
            ["response 200 OK", "body hel", "closed", "reset: connection lost"]
        ),
    ])
    func `an end before the response is whole is reported`(bytes: String, saw: [String]) throws {
        #expect(try #require(seen(of: bytes, ended: true) { .asked() }) == saw)
    }

    @Test func `a connection that breaks does not end a body`() {
        let upstream = ScriptedUpstream.asked()
        upstream.responses("HTTP/1.1 200 OK\r\n\r\nhello")
        upstream.hangsUp(errno: 104)
        #expect(upstream.saw == ["response 200 OK", "body hello", "closed", "reset: connection lost, errno 104"])
    }

    @Test(arguments: [
        ("HTTP/1.1 2000 OK", HTTPError.statusLine), ("HTTP/1.1 20 OK", .statusLine), ("HTTP/1.1 099 X", .statusLine),
        ("HTTP/1.1 2x0 OK", .statusLine), ("HTTP/1.1  200 OK", .statusLine), ("HTTP/1.1\t200 OK", .statusLine),
        ("HTTP/1.1 200OK", .statusLine), ("HTTP/1.1 200 a\u{0}b", .statusLine), ("HTTP/1.1 200 a\rb", .statusLine),
        ("http/1.1 200 OK", .statusLine), ("ICY 200 OK, welcome", .statusLine), ("\r\nHTTP/1.1 200 OK", .statusLine),
        ("HTTP/1.1 101 Switching Protocols", .statusLine), ("HTTP/2.0 200 OK", .version), ("HTTP/1.2 200 OK", .version),
        ("HTTP/1.1 200 OK\nx: 1", .bareLineFeed), ("HTTP/1.1 200 OK\r\nx : 1", .fieldName),
        ("HTTP/1.1 200 OK\r\nx: 1\r\n 2", .obsoleteFolding), ("HTTP/1.1 200 OK\r\nx: \u{0}", .nullByte),
        ("HTTP/1.1 200 OK\r\nx: a\rb", .bareCarriageReturn), ("HTTP/1.1 200 OK\r\nContent-Length: +5", .contentLength),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6", .contentLength),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5, 5", .contentLength),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked", .contentLengthWithTransferEncoding),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked", .transferEncoding),
        ("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked", .transferEncoding),
    ])
    func `a malformed response breaks the exchange and the connection`(head: String, error: HTTPError) throws {
        let saw = try #require(seen(of: head + "\r\n\r\nHTTP/1.1 200 OK\r\n\r\n") { .asked() })
        #expect(saw == ["closed", "reset: fault \(error)"])
    }

    @Test func `a malformed chunk breaks the exchange and the connection`() throws {
        let saw = try #require(seen(of: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n") { .asked() })
        #expect(saw == ["response 200 OK", "closed", "reset: fault \(HTTPError.chunkSize)"])
    }

    @Test func `interim responses cannot go on for ever`() {
        let upstream = ScriptedUpstream.asked(limits: HTTPLimits(head: 100))
        for _ in 0..<10 { upstream.responses("HTTP/1.1 100 Continue\r\n\r\n") }
        let interim = Array(repeating: "interim 100 Continue", count: 4)
        #expect(upstream.saw == interim + ["closed", "reset: fault \(HTTPError.headTooLarge)"])
    }

    @Test func `each exchange has the whole limit for its heads`() {
        let upstream = ScriptedUpstream(limits: HTTPLimits(head: 100))
        for _ in 0..<5 {
            upstream.opens().stream?.send(head: Message.request("GET"), end: true)
            upstream.responses("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        }
        #expect(upstream.saw.filter { $0 == "idle" }.count == 5)
    }
}
