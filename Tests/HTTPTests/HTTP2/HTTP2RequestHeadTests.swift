import HTTP
import HTTP2Kit
import Testing

/// What becomes of the heads of HTTP/2 requests.
@Suite struct HTTP2RequestHeadTests {
    private static let control: [(String, String)] = [
        (":method", "GET"), (":scheme", "http"), (":authority", "a"), (":path", "/"),
    ]

    /// What is told of a request with these fields, which are its whole head.
    private func reported(_ fields: [(String, String)], limits: HTTPLimits = HTTPLimits()) -> HTTP2Caller {
        let caller = HTTP2Caller.served(limits: limits)
        let block = fields.flatMap { HPACK.literal($0.0, $0.1) }
        caller.sends(Frame(.headers, flags: Frame.Flag.endHeaders | Frame.Flag.end, stream: 1, block))
        return caller
    }

    private func without(_ name: String, _ others: (String, String)...) -> [(String, String)] {
        Self.control.filter { $0.0 != name } + others
    }

    @Test func `cookies come as they were split`() {
        let caller = reported(Self.control + [("cookie", "a=1"), ("x", "y"), ("cookie", "b=2")])
        #expect(caller.saw == ["request GET / host=a", "  cookie: a=1", "  x: y", "  cookie: b=2", "end"])
    }

    @Test func `the length, te and expect are reported apart from the fields`() {
        let caller = HTTP2Caller()
        let fields: Frame.Fields = ["te": "trailers", "content-length": "2", "expect": "100-Continue", "x": "y"]
        caller.sends(.request(1, "POST", "/", fields), .data(1, "hi", end: true))
        let summary = "request POST / host=a length=2 expects=continue te=trailers"
        #expect(caller.saw == [summary, "  x: y", "body hi", "end"])
    }

    @Test func `the host may be said as in HTTP 1`() {
        #expect(reported(without(":authority", ("host", "b:80"))).saw == ["request GET / host=b:80", "end"])
        #expect(reported(Self.control + [("host", "a")]).saw == ["request GET / host=a", "end"])
    }

    @Test(arguments: ["a", "A", "a:80", "a:", "A:80"])
    func `the host may be said twice, in two spellings`(host: String) {
        #expect(reported(Self.control + [("host", host)]).saw == ["request GET / host=a", "end"])
    }

    @Test(arguments: ["a:81", "a:443", "a.", "b", "aa"])
    func `another host is none`(host: String) {
        expectRejected(Self.control + [("host", host)], 400)
    }

    @Test(arguments: [" v", "v ", "v\t", "\tv ", "  v  ", "v"])
    func `a value loses the space around it`(value: String) {
        #expect(reported(Self.control + [("x-meta", value)]).saw == ["request GET / host=a", "  x-meta: v", "end"])
    }

    @Test func `a value of spaces is empty`() {
        #expect(reported(Self.control + [("x", " \t ")]).saw == ["request GET / host=a", "  x: ", "end"])
    }

    @Test(arguments: ["/?\"", "/?a\\b", "/p?<>"])
    func `a query may have bytes that a path may not`(path: String) {
        #expect(reported(without(":path", (":path", path))).saw == ["request GET \(path) host=a", "end"])
    }

    @Test func `OPTIONS may ask about the server as a whole`() {
        let fields = [(":method", "OPTIONS"), (":scheme", "http"), (":authority", "a"), (":path", "*")]
        #expect(reported(fields).saw == ["request OPTIONS * host=a", "end"])
    }

    // MARK: Rejected with a response

    @Test(arguments: [
        (("host", "b"), HTTPError.invalidHost), (("expect", "200-ok"), .expectation),
    ])
    func `a field that cannot be is rejected`(field: (String, String), error: HTTPError) {
        let caller = reported(Self.control + [field])
        #expect(caller.saw == ["rejected: \(error)"])
        #expect(caller.receive() == ["1 HEADERS/end :status: \(error.status) | content-length: 0"])
        #expect(caller.saw == ["rejected: \(error)", "idle"])
    }

    @Test(arguments: ["", "a b", "a/b", "u@a", "a:99999", "[::1"])
    func `an authority that is none is rejected or reset`(authority: String) {
        expectRejected(without(":authority", (":authority", authority)), 400)
    }

    @Test(arguments: ["", "p", "*", "/a b", "http://a/", "/\u{7f}", "/#f"])
    func `a path that is none is rejected or reset`(path: String) {
        expectRejected(without(":path", (":path", path)), 400)
    }

    @Test(arguments: ["http://a/", "x://a/", "x:y", "p", "", "*"])
    func `a path that is none is rejected whatever the scheme is`(path: String) {
        let control = [(":method", "GET"), (":scheme", "x"), (":authority", "a"), (":path", path)]
        expectRejected(control, 400)
    }

    @Test(arguments: ["x", "ftp", "ws", "httpx", "http:"])
    func `a scheme that is neither http nor https is rejected`(scheme: String) {
        expectRejected(without(":scheme", (":scheme", scheme)), 400)
    }

    @Test(arguments: ["http", "https", "HTTP"])
    func `a scheme that is one of the two is no matter`(scheme: String) {
        #expect(reported(without(":scheme", (":scheme", scheme))).saw == ["request GET / host=a", "end"])
    }

    @Test func `CONNECT is rejected`() {
        expectRejected([(":method", "CONNECT"), (":authority", "a:1")], 501)
        expectRejected(without(":method", (":method", "CONNECT")), 501)
        expectRejected(without(":method", (":method", "CONNECT")) + [(":protocol", "websocket")], 501)
    }

    // MARK: Malformed

    @Test(arguments: [
        ("X-Upper", "a"), ("x y", "a"), ("", "a"), ("x", "a\r\nb"), ("x", "a\0"), ("x\r", "a"),
        ("connection", "close"), ("keep-alive", "1"), ("proxy-connection", "a"), ("transfer-encoding", "chunked"),
        ("upgrade", "h2c"), ("te", "gzip"), (":path", "/"), (":method", "GET"), (":status", "200"), (":x", "a"),
        ("content-length", "1, 1"), ("content-length", "-1"), ("content-length", ""), ("content-length", "x"),
    ])
    func `a malformed head resets the stream`(name: String, value: String) {
        expectReset(Self.control + [(name, value)])
    }

    @Test(arguments: [":method", ":scheme", ":path", ":authority"])
    func `a request without its control data is reset`(name: String) {
        expectReset(without(name))
    }

    @Test func `control data behind fields, or what may come once and comes twice, are malformed`() {
        expectReset([("x", "y")] + Self.control)
        expectReset(Self.control + [("content-length", "0"), ("content-length", "0")])
        expectReset(Self.control + [("host", "a"), ("host", "a")])
        expectReset(Self.control + [("host", "")])
    }

    @Test func `a body that is not as long as was said is malformed`() {
        for body in ["h", "hello"] {
            let caller = HTTP2Caller.served()
            caller.sends(.request(1, "POST", "/", ["content-length": "2"]), .data(1, body, end: true))
            #expect(caller.receive() == ["1 RST_STREAM PROTOCOL_ERROR"])
            #expect(caller.users[0].saw.last == "reset: PROTOCOL_ERROR")
            #expect(!caller.users[0].saw.contains("end"))
        }
    }

    @Test(arguments: [(":path", "/"), ("X", "a"), ("connection", "a")])
    func `malformed trailers reset the stream`(name: String, value: String) {
        let caller = HTTP2Caller.served()
        caller.sends(.request(1), .data(1, "x"), .headers(1, [name: value], end: true))
        #expect(caller.receive() == ["1 RST_STREAM PROTOCOL_ERROR"])
        #expect(caller.saw.contains("reset: fault \(HTTPError.http2Message)"))
        #expect(!caller.saw.contains("end"))
    }

    @Test func `trailers that do not end the stream are malformed`() {
        let caller = HTTP2Caller.served()
        caller.sends(.request(1), .headers(1, ["t": "1"]))
        #expect(caller.receive() == ["1 RST_STREAM PROTOCOL_ERROR"])
        #expect(caller.users[0].saw == ["request POST / host=a", "reset: fault \(HTTPError.http2Message)"])
    }

    @Test func `what means something only in a head is dropped from trailers`() {
        let caller = HTTP2Caller.served()
        let fields: Frame.Fields = ["host": "b", "content-type": "x", "t": "1", "expect": "y", "trailer": "z"]
        caller.sends(.request(1), .headers(1, fields, end: true))
        #expect(caller.saw == ["request POST / host=a", "end", "  t: 1"])
    }

    @Test func `the streams beside a malformed one go on`() throws {
        let caller = HTTP2Caller()
        caller.sends(.request(1, end: true), .request(3, "GET", "/", ["X": "a"], end: true), .request(5, end: true))
        #expect(caller.receive() == ["3 RST_STREAM PROTOCOL_ERROR"])
        for user in caller.users { user.stream?.response(200) }
        #expect(caller.receive().map { $0.prefix(13) } == ["1 HEADERS/end", "5 HEADERS/end"])
    }

    private func expectReset(_ fields: [(String, String)], sourceLocation: SourceLocation = #_sourceLocation) {
        let caller = reported(fields)
        #expect(caller.receive() == ["1 RST_STREAM PROTOCOL_ERROR"], "\(fields)", sourceLocation: sourceLocation)
        #expect(caller.saw.allSatisfy { $0 == "idle" }, "\(fields)", sourceLocation: sourceLocation)
        #expect(!caller.isClosed, sourceLocation: sourceLocation)
    }

    private func expectRejected(
        _ fields: [(String, String)],
        _ status: Int,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let caller = reported(fields)
        let sent = caller.receive()
        let responses = ["1 HEADERS/end :status: \(status) | content-length: 0", "1 RST_STREAM PROTOCOL_ERROR"]
        #expect(sent.count == 1 && responses.contains(sent[0]), "\(fields): \(sent)", sourceLocation: sourceLocation)
        #expect(caller.users.isEmpty && !caller.isClosed, "\(fields)", sourceLocation: sourceLocation)
    }
}
