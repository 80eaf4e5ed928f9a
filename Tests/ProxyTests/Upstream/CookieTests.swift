import HTTP2Kit
import Testing

/// Cookies that an upstream sets and a worker keeps.
@Suite struct CookieTests {
    private static func keeping(_ cookies: String) -> String {
        """
        listen: 127.0.0.1:8080
        upstreams: {default: {url: "http://127.0.0.1:9000", cookies: \(cookies)}}
        """
    }

    private static let setting = http(
        "HTTP/1.1 200 OK",
        "set-cookie: a=1; Path=/",
        "x-a: b",
        "set-cookie: b=2; Path=/pkg.Service",
        "set-cookie: c=3; Path=/other",
        "content-length: 0"
    )
    private static let bare = http("HTTP/1.1 200 OK", "x-a: b", "content-length: 0")

    @Test(arguments: Transport.allCases)
    func `cookies are kept and sent back, and the caller does not see them`(_ transport: Transport) {
        runProxy(transport, Self.keeping("jar")) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            upstream.send(Self.setting)
            caller.expect(Self.bare)
            // Whoever calls: the jar is the upstream's.
            let other = harness.caller()
            other.send(http("GET /pkg.Service/Look HTTP/1.1", "host: app", "cookie: own=0"))
            upstream.expect(
                http("GET /pkg.Service/Look HTTP/1.1", "host: 127.0.0.1:9000", "cookie: own=0; b=2; a=1")
            )
            upstream.send(http("HTTP/1.1 200 OK", "set-cookie: a=; Max-Age=0; Path=/", "content-length: 0"))
            other.expect(http("HTTP/1.1 200 OK", "content-length: 0"))
            other.send(get)
            upstream.expect(http("GET /pkg.Service/Look HTTP/1.1", "host: 127.0.0.1:9000", "cookie: b=2"))
        }
    }

    /// HTTP/2 lets a caller send each of its cookies in a field of its own (RFC 9113 §8.2.3).
    @Test func `all cookies of a caller go on beside those that are kept`() {
        runProxy(Self.keeping("jar")) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            _ = upstream.head()
            upstream.send(Self.setting)
            caller.expect(Self.bare)
            let other = harness.http2Caller()
            other.send(.say(1, "text/plain", ("cookie", "x=1"), ("cookie", "y=2"), ("cookie", "z=3"), end: true))
            #expect(upstream.head().contains("\r\ncookie: x=1; y=2; z=3; b=2; a=1\r\n"))
        }
    }

    @Test func `rules see the cookies of a caller as one field`() {
        let rule = "{when: {header: {cookie: {regex: 'a=1; b=2'}}}, reject: {code: permission_denied}}"
        runProxy("\(plain)\ninterceptors: [\(rule)]\n") { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "text/plain", ("cookie", "a=1"), ("cookie", "b=2"), end: true))
            #expect(caller.next().contains(":status: 403"))
        }
    }

    @Test func `a caller may be shown the cookies that are kept`() {
        runProxy(Self.keeping("expose")) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            upstream.send(Self.setting)
            caller.expect(Self.setting)
            caller.send(get)
            upstream.expect(http("GET /pkg.Service/Look HTTP/1.1", "host: 127.0.0.1:9000", "cookie: b=2; a=1"))
        }
    }

    @Test(arguments: ["jar", "expose"])
    func `of a cookie that the caller sends as well, the jar's goes on, once`(_ cookies: String) {
        runProxy(Self.keeping(cookies)) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            _ = upstream.head()
            upstream.send(Self.setting)
            _ = caller.head()
            for (sent, expected) in [
                ("a=1; b=2", "b=2; a=1"), ("b=old; a=older", "b=2; a=1"), ("a=1; a=2; a", "b=2; a=1"),
                ("x=1; a=1;y=2 ; ; b=2", "x=1; y=2; b=2; a=1"), ("aa=1; A=1; c=1", "aa=1; A=1; c=1; b=2; a=1"),
            ] {
                caller.send(http("GET /pkg.Service/Look HTTP/1.1", "host: app", "cookie: \(sent)"))
                #expect(upstream.head().contains("\r\ncookie: \(expected)\r\n"), "\(sent)")
                upstream.send(Self.bare)
                caller.expect(Self.bare)
            }
        }
    }

    @Test func `without a jar cookies are the caller's own`() {
        runProxy(plain) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            upstream.send(Self.setting)
            caller.expect(Self.setting)
            caller.send(get)
            upstream.expect(gotUpstream)
        }
    }

    @Test func `a call that is retried has the cookies of then, and each once`() {
        runProxy(Self.keeping("jar").replacing("http:", with: "h2c:")) { harness in
            let caller = harness.http2Caller()
            caller.send(.get(1, "/a"), .get(3, "/a"))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            let head = "HEADERS/end \(control("GET", "/a"))"
            upstream.expect("1 \(head)", "3 \(head)")
            upstream.send(.response(1, 200, ["set-cookie": "a=1"], end: true))
            caller.expect("1 HEADERS/end :status: 200")
            upstream.send(.reset(3, .rejected))
            upstream.expect("5 \(head) | cookie: a=1")
            upstream.send(.reset(5, .rejected))
            upstream.expect("7 \(head) | cookie: a=1")
        }
    }

    @Test func `an interim response and an error set cookies as well, and show none`() {
        runProxy(Self.keeping("jar")) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            upstream.send(http("HTTP/1.1 103 Early Hints", "set-cookie: a=1; Path=/", "link: </a>"))
            upstream.send(http("HTTP/1.1 404 Not Found", "set-cookie: b=2; Path=/", "content-length: 0"))
            caller.expect(http("HTTP/1.1 103 Early Hints", "link: </a>"))
            caller.expect(http("HTTP/1.1 404 Not Found", "content-length: 0"))
            caller.send(get)
            upstream.expect(http("GET /pkg.Service/Look HTTP/1.1", "host: 127.0.0.1:9000", "cookie: a=1; b=2"))
        }
    }
}
