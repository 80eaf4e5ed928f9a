import HTTP
import Testing

/// What a good request becomes, however its bytes are cut.
@Suite struct RequestHeadTests {
    struct Case: CustomTestStringConvertible {
        let name: String
        let bytes: String
        let saw: [String]
        var testDescription: String { name }

        init(_ name: String, _ bytes: String, _ saw: [String]) {
            self.name = name
            self.bytes = bytes
            self.saw = saw
        }
    }

    @Test(arguments: [
        Case(
            "names become small, values lose the space around them, order and repetition stay",
            "GET /a?b=c HTTP/1.1\r\nHOST: a.test:80\r\nX-One:1\r\nx-two: \t 2 \r\nX-ONE: again\r\n\r\n",
            ["request GET /a?b=c host=a.test:80", "  x-one: 1", "  x-two: 2", "  x-one: again"]
        ),
        Case(
            "an empty value and opaque bytes are values",
            "GET / HTTP/1.1\r\nHost: a\r\nx-empty:\r\nx-opaque: caf\u{e9}\r\n\r\n",
            ["request GET / host=a", "  x-empty: ", "  x-opaque: caf\u{e9}"]
        ),
        Case(
            "a method is any token",
            "M-SEARCH!#$%&'*+-.^_`|~ / HTTP/1.1\r\nHost: a\r\n\r\n",
            ["request M-SEARCH!#$%&'*+-.^_`|~ / host=a"]
        ),
        Case(
            "one empty line before the request is forgiven",
            "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
            ["request GET / host=a"]
        ),
        Case(
            "a caller of 1.0 need not name a host",
            "GET / HTTP/1.0\r\n\r\n",
            ["request GET /"]
        ),
        Case(
            "an absolute target names the host",
            "GET http://a.test:8080/x?y HTTP/1.1\r\nHost: a.test:8080\r\n\r\n",
            ["request GET /x?y host=a.test:8080"]
        ),
        Case(
            "an absolute target need not have a path",
            "GET HTTPS://a?y HTTP/1.1\r\nHost: a\r\n\r\n",
            ["request GET /?y host=a"]
        ),
        Case(
            "OPTIONS may ask about the whole server",
            "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
            ["request OPTIONS * host=a"]
        ),
        Case(
            "OPTIONS about the whole server in absolute form",
            "OPTIONS http://a HTTP/1.1\r\nHost: a\r\n\r\n",
            ["request OPTIONS * host=a"]
        ),
        Case(
            "a host may be an IPv6 address",
            "GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n",
            ["request GET / host=[::1]:80"]
        ),
        Case(
            "what belongs to the connection is taken out, and what it names",
            "GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, X-Hop\r\nconnection: ,x-other ,\r\nx-hop: 1\r\n"
                + "x-other: 2\r\nKeep-Alive: 5\r\nProxy-Connection: x\r\nTrailer: t\r\nx-kept: 3\r\nX-HOP: 4\r\n\r\n",
            ["request GET / host=a", "  x-kept: 3"]
        ),
        Case(
            "naming the framing in Connection does not take it away",
            "GET / HTTP/1.1\r\nHost: a\r\nConnection: content-length, host, te\r\nContent-Length: 0\r\nTE: trailers\r\n\r\n",
            ["request GET / host=a length=0 te=trailers"]
        ),
        Case(
            "trailers are wanted if TE says so among others",
            "GET / HTTP/1.1\r\nHost: a\r\nTE: gzip;q=0.5, Trailers\r\n\r\n",
            ["request GET / host=a te=trailers"]
        ),
        Case(
            "leading zeros do not change a length",
            "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 000\r\n\r\n",
            ["request GET / host=a length=0"]
        ),
    ])
    func `a request is read`(_ request: Case) throws {
        let outcome = try #require(outcome(of: request.bytes) { ScriptedCaller() })
        #expect(outcome.saw == request.saw + ["end"])
    }

    @Test func `the limits are what is still allowed`() {
        let head = "GET / HTTP/1.1\r\nHost: a\r\nx: \(String(repeating: "v", count: 60))\r\n\r\n"
        let limits = HTTPLimits(head: head.utf8.count, fields: 2)
        #expect(outcome(of: head) { .served(limits: limits) }?.saw.last == "idle")
    }

    @Test func `the line before the request is no part of the next one`() {
        let caller = ScriptedCaller.served()
        for _ in 0..<3 { caller.sends("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n") }
        #expect(caller.users.count == 3)
    }

    @Test(arguments: [
        "h2c", "H2C", "TLS/1.2", "HTTP/2.0", "h2c, TLS/1.2", "websocket, h2c", "h2c, websocket",
        "h2c\r\nUpgrade: websocket", "", ",", "IRC/6.9, RTA/x11", "websocket/13", "\"websocket\"",
    ])
    func `an offer of another protocol is ignored`(offer: String) {
        let fields = "Host: a\r\nConnection: Upgrade\r\nUpgrade: \(offer)\r\nx: y\r\n\r\n"
        let seen = outcome(of: "GET / HTTP/1.1\r\n" + fields) { .served() }
        #expect(seen?.saw == ["request GET / host=a", "  x: y", "end", "idle"])
    }

    @Test(arguments: ["websocket", "TLS/1.2", "h2c"])
    func `HTTP 1 0 has no offers`(offer: String) {
        let seen = outcome(of: "GET / HTTP/1.0\r\nHost: a\r\nUpgrade: \(offer)\r\nx: y\r\n\r\n") { .served() }
        #expect(seen?.saw.prefix(2) == ["request GET / host=a", "  x: y"])
    }

    @Test(arguments: ["\"", "\\", "<>", "a=\"b\"", "a\\b", "{}|^`", "a?b", "'", "/\\/", "%\"%"])
    func `a query may have bytes that a path may not`(query: String) {
        let seen = outcome(of: "GET /p?\(query) HTTP/1.1\r\nHost: a\r\n\r\n") { .served() }
        #expect(seen?.saw.first == "request GET /p?\(query) host=a")
    }
}
