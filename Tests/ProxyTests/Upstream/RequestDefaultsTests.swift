import Configuration
import Documents
import Glibc
import HTTP2Kit
import Interceptors
import Testing
import Time

@testable import Proxy

/// What requests to an upstream get where they do not have it.
@Suite struct RequestDefaultsTests {
    private static func with(_ defaults: String, url: String = "http://127.0.0.1:9000", _ more: String = "") -> String {
        """
        listen: 127.0.0.1:8080
        upstreams: {default: {url: "\(url)", defaults: {\(defaults)}\(more)}}
        """
    }

    /// The head that goes upstream for one of a caller.
    private func head(_ defaults: String, _ lines: String...) -> String {
        var head = ""
        runProxy(Self.with(defaults)) { harness in
            harness.caller().send(lines.joined(separator: "\r\n") + "\r\n\r\n")
            head = harness.upstream().accept().head()
        }
        return head
    }

    @Test func `a header is added where the request has none of its name`() {
        let defaults = #"headers: {User-Agent: "m/1", x-who: "{header:x-tenant} of {host}"}"#
        #expect(
            head(defaults, "GET /a HTTP/1.1", "host: app", "x-tenant: t")
                == http(
                    "GET /a HTTP/1.1",
                    "host: 127.0.0.1:9000",
                    "x-tenant: t",
                    "user-agent: m/1",
                    "x-who: t of app"
                )
        )
        #expect(
            head(defaults, "GET /a HTTP/1.1", "host: app", "user-agent: own", "x-who:")
                == http("GET /a HTTP/1.1", "host: 127.0.0.1:9000", "user-agent: own", "x-who: ")
        )
    }

    @Test(arguments: [
        ("/a", "/a?lang=it-IT&q=a%20b%26c"), ("/a?", "/a?lang=it-IT&q=a%20b%26c"),
        ("/a?b=1", "/a?b=1&lang=it-IT&q=a%20b%26c"), ("/a?lang=de", "/a?lang=de&lang=it-IT&q=a%20b%26c"),
    ])
    func `parameters are appended behind the request's own, and escaped`(_ target: String, _ expected: String) {
        let came = head(#"query: {lang: it-IT, q: "a b&c"}"#, "GET \(target) HTTP/1.1", "host: app")
        #expect(came == http("GET \(expected) HTTP/1.1", "host: 127.0.0.1:9000"))
    }

    @Test func `the server as a whole is asked without parameters`() {
        let came = head("query: {a: b}", "OPTIONS * HTTP/1.1", "host: app")
        #expect(came == http("OPTIONS * HTTP/1.1", "host: 127.0.0.1:9000"))
    }

    @Test(arguments: ["", ", cookies: jar"])
    func `a call that is retried has them once`(_ cookies: String) {
        let defaults = #"headers: {x-a: "{header:x-id}{path}"}, query: {k: v}"#
        runProxy(Self.with(defaults, url: "h2c://127.0.0.1:9000", cookies)) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/json", ("x-id", "7")), .data(1, "{}", end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            let head =
                "HEADERS \(control("POST", "/pkg.Service/Say?k=v")) | content-type: application/json | x-id: 7 | x-a: 7/pkg.Service/Say"
            upstream.expect("1 \(head)", "1 DATA/end {}")
            upstream.send(.reset(1, .rejected))
            upstream.expect("3 \(head)", "3 DATA/end {}")
            upstream.send(.reset(3, .rejected))
            upstream.expect("5 \(head)", "5 DATA/end {}")
            upstream.send(.response(5, end: true))
            caller.expect("1 HEADERS/end :status: 200")
        }
    }

    @Test func `a call that goes again through what runs for each attempt has them once, too`() {
        let yaml =
            Self.with("headers: {x-a: b}, query: {k: v}", url: "h2c://127.0.0.1:9000")
            + "\ninterceptors: [{per: attempt, headers: {request: {add: {x-try: \"1\"}}}}]"
        runProxy(yaml) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/json", end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            let control = control("POST", "/pkg.Service/Say?k=v")
            let head = "HEADERS/end \(control) | content-type: application/json | x-try: 1 | x-a: b"
            upstream.expect("1 \(head)")
            upstream.send(.reset(1, .rejected))
            upstream.expect("3 \(head)")
        }
    }

    @Test func `the time that is left is still reported when a call is retried`() {
        runProxy(Self.with("headers: {x-a: b}", url: "h2c://127.0.0.1:9000")) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/json", ("connect-timeout-ms", "5000"), end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            #expect(upstream.next().contains("connect-timeout-ms: 5000 | x-a: b"))
            harness.pass(.seconds(1))
            upstream.send(.reset(1, .rejected))
            #expect(upstream.next().contains("connect-timeout-ms: 4000 | x-a: b"))
        }
    }

    // MARK: Loading

    private func errors(_ defaults: String) -> [String] {
        let diagnostics = Diagnostics()
        let yaml = Array(Self.with(defaults).utf8)
        _ = Plan(YAML.parse(yaml, into: diagnostics), kinds: .builtIn, into: diagnostics)
        return diagnostics.sorted.map(\.message)
    }

    @Test func `what belongs to the protocols is an error`() {
        #expect(
            errors("headers: {Content-Type: a}") == [
                "the header Content-Type belongs to the protocol; a rule cannot change it"
            ]
        )
        for name in ["connect", "message", "encoding", "base64", "compression"] {
            #expect(
                errors("query: {\(name): a}") == [
                    "the query parameter \(name) belongs to the Connect protocol; remove it from \"defaults\""
                ]
            )
        }
    }

    @Test func `values are checked, and the environment is read, at load`() {
        unsafe setenv("DEFAULTS_KEY", "k1", 1)
        #expect(errors(#"query: {api_key: "{env:DEFAULTS_KEY}"}"#) == [])
        #expect(errors(#"headers: {x-a: "{hots}"}"#) == [#"{hots} is unknown; did you mean "host"?"#])
        let came = head(#"query: {api_key: "{env:DEFAULTS_KEY}"}"#, "GET /a HTTP/1.1", "host: app")
        #expect(came == http("GET /a?api_key=k1 HTTP/1.1", "host: 127.0.0.1:9000"))
    }
}
