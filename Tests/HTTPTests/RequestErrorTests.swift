import HTTP
import Testing

/// What is rejected, with what, and that nothing of it or behind it is taken for a request.
@Suite struct RequestErrorTests {
    static let smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test(arguments: [
        ("GET /", HTTPError.requestLine), ("GET", .requestLine), (" GET / HTTP/1.1", .requestLine),
        ("GET  / HTTP/1.1", .requestLine), ("GET / HTTP/1.1 ", .requestLine), ("GET /  HTTP/1.1", .requestLine),
        ("GET / HTTP/1.1 x", .requestLine), ("GET\t/ HTTP/1.1", .requestLine), ("G(T / HTTP/1.1", .requestLine),
        ("GET / http/1.1", .requestLine), ("GET / HTTP/1", .requestLine), ("GET / HTTP/1.x", .requestLine),
        ("GET / HTTP/01.1", .requestLine), ("GET / HTTP/1.1\u{0}", .requestLine), ("\u{0}GET / HTTP/1.1", .requestLine),
        ("GET / HTTP/1.1\rHost: b", .requestLine),
        ("GET / HTTP/2.0", .version), ("GET / HTTP/0.9", .version), ("GET / HTTP/1.2", .version),
        ("PRI * HTTP/2.0", .http2Preface), ("CONNECT a:80 HTTP/1.1", .connect), ("CONNECT / HTTP/1.1", .connect),
        ("GET a HTTP/1.1", .target), ("GET * HTTP/1.1", .target), ("GET a:80 HTTP/1.1", .target),
        ("GET ftp://a/ HTTP/1.1", .target), ("GET http:/a HTTP/1.1", .target), ("GET /a#b HTTP/1.1", .target),
        ("GET /a\\b HTTP/1.1", .target), ("GET /\"<>\" HTTP/1.1", .target), ("GET /\u{1} HTTP/1.1", .target),
        ("GET /\u{7f} HTTP/1.1", .target), ("GET /\u{e9} HTTP/1.1", .target), ("GET /a\tb HTTP/1.1", .target),
        ("GET /a\rb HTTP/1.1", .target), ("GET /\u{0} HTTP/1.1", .nullByte),
        ("GET http:///x HTTP/1.1", .invalidHost), ("GET http://u@a/ HTTP/1.1", .invalidHost),
        ("GET http://b/ HTTP/1.1", .invalidHost), ("GET http://a:81/ HTTP/1.1", .invalidHost),
        ("GET http://a:443/ HTTP/1.1", .invalidHost), ("GET https://a:80/ HTTP/1.1", .invalidHost),
        ("GET http://a./ HTTP/1.1", .invalidHost), ("GET /\\?a HTTP/1.1", .target), ("GET /<?a HTTP/1.1", .target),
        ("GET /?\u{0} HTTP/1.1", .nullByte), ("GET /?a#b HTTP/1.1", .target), ("GET /?\u{e9} HTTP/1.1", .target),
        ("GET /?\u{7f} HTTP/1.1", .target),
    ])
    func `a bad request line is rejected`(line: String, error: HTTPError) throws {
        try expectRejection(of: line + "\r\nHost: a\r\n\r\n", error)
    }

    @Test(arguments: [
        ("", HTTPError.missingHost), ("Host: a\r\nHost: a", .severalHosts),
        ("Host: a\r\nx: y\r\nhost: b", .severalHosts),
        ("Host:", .invalidHost), ("Host: a b", .invalidHost), ("Host: a,b", .invalidHost), ("Host: a/b", .invalidHost),
        ("Host: u@a", .invalidHost), ("Host: :80", .invalidHost), ("Host: a:x", .invalidHost),
        ("Host: a:65536", .invalidHost), ("Host: a:80:80", .invalidHost), ("Host: a%2eb", .invalidHost),
        ("Host: a%zz", .invalidHost), ("Host: a%3A80", .invalidHost), ("Host: a%2", .invalidHost),
        ("Host: a?", .invalidHost),
        ("Host: [::1", .invalidHost), ("Host: [::1]x", .invalidHost), ("Host: []", .invalidHost),
        ("Host: a[b]", .invalidHost), ("Host: [a[b]]", .invalidHost), ("Host: ]", .invalidHost),
        ("Host: caf\u{e9}", .invalidHost),
    ])
    func `a host that is not one host is rejected`(fields: String, error: HTTPError) throws {
        try expectRejection(of: "GET / HTTP/1.1\r\n" + fields + (fields.isEmpty ? "" : "\r\n") + "\r\n", error)
    }

    @Test(arguments: [
        ("x y: 1", HTTPError.fieldName), ("x : 1", .fieldName), ("x\t: 1", .fieldName), (": 1", .fieldName),
        ("x", .fieldName), ("x\u{e9}: 1", .fieldName), ("x(: 1", .fieldName), ("x\r: 1", .fieldName),
        ("x\u{0}: 1", .nullByte), ("x: \u{0}", .nullByte), ("x: a\u{0}b", .nullByte),
        ("x: a\rb", .bareCarriageReturn), ("x: a\r", .bareCarriageReturn), ("x: \r\r", .bareCarriageReturn),
        ("x: \u{1}", .fieldValue), ("x: \u{7f}", .fieldValue), ("x: \u{b}", .fieldValue),
        (" x: 1", .obsoleteFolding), ("x: 1\r\n 2", .obsoleteFolding), ("x: 1\r\n\t2", .obsoleteFolding),
        ("x: 1\r\n ", .obsoleteFolding), ("x: 1\ny: 2", .bareLineFeed), ("x: 1\n\ny: 2", .bareLineFeed),
        ("Upgrade: websocket", .upgrade), ("Connection: Upgrade\r\nUpgrade: websocket", .upgrade),
        ("Upgrade: , WebSocket ,", .upgrade), ("Upgrade: websocket\r\nUpgrade: websocket", .upgrade),
        ("Expect: 200-ok", .expectation), ("Expect:", .expectation),
    ])
    func `a bad field is rejected`(field: String, error: HTTPError) throws {
        try expectRejection(of: "GET / HTTP/1.1\r\nHost: a\r\n" + field + "\r\n\r\n", error)
    }

    @Test(arguments: [
        ("Content-Length:", HTTPError.contentLength), ("Content-Length: x", .contentLength),
        ("Content-Length: +5", .contentLength), ("Content-Length: -5", .contentLength),
        ("Content-Length: 5 5", .contentLength), ("Content-Length: 5, 5", .contentLength),
        ("Content-Length: 5,", .contentLength), ("Content-Length: 0x5", .contentLength),
        ("Content-Length: 5.0", .contentLength), ("Content-Length: \u{ff15}", .contentLength),
        ("Content-Length: 9223372036854775808", .contentLength),
        ("Content-Length: 18446744073709551621", .contentLength),
        ("Content-Length: 5\r\nContent-Length: 5", .contentLength),
        ("Content-Length: 5\r\nContent-Length: 6", .contentLength),
        ("Content-Length: 5\r\nTransfer-Encoding: chunked", .contentLengthWithTransferEncoding),
        ("Transfer-Encoding: chunked\r\nContent-Length: 0", .contentLengthWithTransferEncoding),
        (
            "Transfer-Encoding: chunked\r\nConnection: content-length\r\nContent-Length: 5",
            .contentLengthWithTransferEncoding
        ),
        ("Transfer-Encoding:", .transferEncoding), ("Transfer-Encoding: gzip", .transferEncoding),
        ("Transfer-Encoding: identity", .transferEncoding), ("Transfer-Encoding: gzip, chunked", .transferEncoding),
        ("Transfer-Encoding: chunked, gzip", .transferEncoding),
        ("Transfer-Encoding: chunked, chunked", .transferEncoding),
        ("Transfer-Encoding: chunked,", .transferEncoding), ("Transfer-Encoding: chunked;q=1", .transferEncoding),
        ("Transfer-Encoding: xchunked", .transferEncoding), ("Transfer-Encoding: \u{b}chunked", .fieldValue),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", .transferEncoding),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", .transferEncoding),
    ])
    func `framing that could be read in two ways is rejected`(field: String, error: HTTPError) throws {
        try expectRejection(of: "POST / HTTP/1.1\r\nHost: a\r\n" + field + "\r\n\r\n0\r\n\r\n", error)
    }

    @Test func `chunks from a caller of 1_0 are rejected`() throws {
        try expectRejection(of: "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", .transferEncoding)
    }

    @Test(arguments: [
        ("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", HTTPError.requestLine),
        ("\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", .bareLineFeed),
        ("GET / HTTP/1.1\nHost: a\n\n", .bareLineFeed), ("GET / HTTP/1.1\r\nHost: a\r\n\n", .bareLineFeed),
        ("\u{16}\u{3}\u{1}\r\n", .requestLine),
    ])
    func `lines that do not end as lines end are rejected`(bytes: String, error: HTTPError) throws {
        try expectRejection(of: bytes, error)
    }

    @Test(arguments: [1, 7, 1000])
    func `a head over the limit is rejected, in whatever pieces it comes`(piece: Int) {
        let head = "GET / HTTP/1.1\r\nHost: a\r\nx: \(String(repeating: "v", count: 1000))\r\n\r\n"
        for limit in [20, 100, head.utf8.count - 1] {
            let caller = ScriptedCaller(limits: HTTPLimits(head: limit))
            for start in stride(from: 0, to: head.utf8.count, by: piece) {
                caller.sends(head.bytes[start..<min(start + piece, head.utf8.count)])
            }
            #expect(caller.saw == ["rejected: \(HTTPError.headTooLarge)", "closed, lingering"])
            #expect(caller.receive().hasPrefix("HTTP/1.1 431 "))
        }
    }

    @Test(arguments: ["x: 1", "TE: x", "Connection: keep-alive", "Keep-Alive: x"])
    func `too many fields are rejected, also of those that are dropped`(field: String) {
        let limits = HTTPLimits(fields: 4)
        let head = "GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: field + "\r\n", count: 4) + "\r\n"
        #expect(
            outcome(of: head) { ScriptedCaller(limits: limits) }?.saw.first == "rejected: \(HTTPError.tooManyFields)"
        )
    }

    @Test func `too many names in Connection are rejected`() {
        let limits = HTTPLimits(fields: 4)
        let head = "GET / HTTP/1.1\r\nHost: a\r\nConnection: a,b,c\r\nConnection: d,e\r\n\r\n"
        #expect(
            outcome(of: head) { ScriptedCaller(limits: limits) }?.saw.first == "rejected: \(HTTPError.tooManyFields)"
        )
    }

    @Test func `a rejection has the version and the method of what it rejects`() {
        let caller = ScriptedCaller.served()
        caller.sends("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = caller.receive()
        caller.whenRejected = { stream, _ in
            stream.send(head: Message.response(400), end: false)
            stream.send(body: "no")
            stream.sendEnd(trailers: nil)
        }
        caller.sends("GET / HTTP/1.0\r\nx y\r\n\r\n")
        #expect(caller.receive() == "HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\nno")
    }

    @Test func `a head that does not come in time is rejected once`() {
        let caller = ScriptedCaller()
        caller.sends("GET / HT")
        caller.session.headTimedOut()
        caller.session.headTimedOut()
        #expect(caller.saw == ["rejected: \(HTTPError.headTimeout)", "closed, lingering"])
        #expect(caller.receive() == "HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
    }

    @Test func `every error has a status and words of its own`() {
        for error in HTTPError.allCases { #expect((400...599).contains(error.status)) }
        #expect(Set(HTTPError.allCases.map(\.text)).count == HTTPError.allCases.count)
    }

    private func expectRejection(of bytes: String, _ error: HTTPError) throws {
        let outcome = try #require(outcome(of: bytes + Self.smuggled) { ScriptedCaller() })
        #expect(outcome.saw == ["rejected: \(error)", "closed, lingering"])
        #expect(outcome.sent.hasPrefix("HTTP/1.1 \(error.status) "))
        #expect(outcome.sent.hasSuffix("\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"))
    }
}
