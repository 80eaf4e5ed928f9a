import Bytes
import Configuration
import Documents
import HTTP
import HTTP2Kit
import Telemetry
import Testing

@testable import Proxy

/// Which requests are let in, by the host that they name and the web page behind them.
@Suite struct CallerGuardTests {
    private static func yaml(_ options: String) -> String {
        """
        listeners: [{address: "127.0.0.1:8080", proxy_status: off, \(options)}]
        upstream: http://127.0.0.1:9000
        """
    }

    /// Why request rejected by a listener with these options.
    private func rejection(
        _ options: String,
        host: String = "localhost:8080",
        _ fields: KeyValuePairs<String, String> = [:],
        overTCP: Bool = true,
        isSecure: Bool = false
    ) -> RejectionLabel? {
        let diagnostics = Diagnostics()
        let root = YAML.parse(Array(Self.yaml(options).utf8), into: diagnostics)
        let settings = Settings(root, into: diagnostics, respondingKinds: [])
        #expect(diagnostics.lines(file: "test") == [])
        let head = HTTPHead()
        head.setAuthority(Array(host.utf8).span)
        for (name, value) in fields { head.add(name: Array(name.utf8).span, value: Array(value.utf8).span) }
        let callerGuard = CallerGuard(settings.listeners[0].guards, isSecure: isSecure)
        return callerGuard.rejection(of: head, overTCP: overTCP)
    }

    // MARK: Hosts

    private static let hosts = #"hosts: ["localhost:8080", api.internal, "*.below.internal", "[::1]:8080", "web:80"]"#

    @Test(arguments: [
        "localhost:8080", "LocalHost:8080", "api.internal", "api.internal:1", "API.internal:", "a.below.internal",
        "b.a.below.internal:99", "[::1]:8080", "web", "web:80", "web:",
    ])
    func `a host that is listed may be named`(_ host: String) {
        #expect(rejection(Self.hosts, host: host) == nil)
    }

    @Test(arguments: [
        "", "localhost", "localhost:8081", "localhost:8080:8080", "evil.example", "evil.example:8080",
        "localhost.:8080",
        "below.internal", "xbelow.internal", "api.internal.evil.example", "xapi.internal", "[::1]", "[::2]:8080",
        "[::1",
        "web:443", "web:x", "localhost:99999999999999999999", ":8080",
    ])
    func `no other host may`(_ host: String) {
        #expect(rejection(Self.hosts, host: host) == .host)
    }

    @Test func `any host may be named where none is listed`() {
        #expect(rejection("allow_remote: false", host: "evil.example") == nil)
        #expect(rejection("allow_remote: false", host: "") == nil)
    }

    @Test func `the port that is not said is that of the scheme`() {
        #expect(rejection("hosts: 'web:443'", host: "web", isSecure: true) == nil)
        #expect(rejection("hosts: 'web:80'", host: "web", isSecure: true) == .host)
    }

    // MARK: Origins

    private static let evil: KeyValuePairs = ["origin": "https://evil.example"]
    private static let app: KeyValuePairs = ["origin": "https://app.example"]

    @Test func `without a word no page may call over TCP, and everybody on a Unix socket`() {
        for fields in [Self.evil, Self.app, ["origin": "null"], ["sec-fetch-site": "cross-site"]] {
            #expect(rejection("allow_remote: false", fields) == .origin)
            #expect(rejection("allow_remote: false", fields, overTCP: false) == nil)
            #expect(rejection("origins: any", fields) == nil)
            #expect(rejection("origins: []", fields, overTCP: false) == .origin)
        }
        #expect(rejection("origins: []") == nil)
    }

    @Test func `a page of a listed origin may call`() {
        let options = "origins: ['https://app.example', 'http://localhost:3000']"
        #expect(rejection(options, Self.app) == nil)
        #expect(rejection(options, ["origin": "http://localhost:3000", "sec-fetch-site": "same-site"]) == nil)
        #expect(rejection(options, Self.app, overTCP: false) == nil)
        #expect(rejection(options, Self.evil, overTCP: false) == .origin)
    }

    @Test(arguments: [
        "null", "", "any", "https://app.example.evil.example", "http://app.example", "https://app.example:444",
        "https://app.example/", "https://xapp.example", "https://app.example https://app.example",
    ])
    func `a page of another origin may not`(_ origin: String) {
        #expect(rejection("origins: ['https://app.example']", ["origin": origin]) == .origin)
    }

    @Test func `of several origins all have to be listed`() {
        let both: KeyValuePairs = ["origin": "https://app.example", "x": "y", "Origin": "https://evil.example"]
        #expect(rejection("origins: ['https://app.example']", both) == .origin)
        #expect(rejection("origins: ['https://app.example', 'https://evil.example']", both) == nil)
    }

    // MARK: The same origin

    @Test func `a page of the host itself may call, if that host is listed`() {
        let own: KeyValuePairs = ["origin": "http://localhost:8080"]
        #expect(rejection(Self.hosts, own) == nil)
        #expect(rejection(Self.hosts + ", origins: ['https://app.example']", own) == nil)
        #expect(rejection(Self.hosts, host: "web:80", ["origin": "http://web"]) == nil)
        #expect(rejection("hosts: web", host: "web", ["origin": "https://web"], isSecure: true) == nil)
        #expect(rejection("allow_remote: false", own) == .origin)
        #expect(rejection("allow_remote: false", host: "evil.example", ["origin": "http://evil.example"]) == .origin)
    }

    @Test(arguments: [
        "https://localhost:8080", "http://localhost", "http://localhost:8081", "http://api.internal", "http://",
        "http://localhost:8080/", "localhost:8080", "http://[",
    ])
    func `a page of another scheme, host or port is none of the host itself`(_ origin: String) {
        #expect(rejection(Self.hosts, ["origin": origin]) == .origin)
    }

    // MARK: What says no origin

    @Test(
        arguments: [
            ("none", nil), ("same-origin", nil), ("same-site", .origin), ("cross-site", .origin), ("x", .origin),
        ]
            as [(String, RejectionLabel?)]
    )
    func `a page that says no origin is known by where it is`(_ site: String, _ expected: RejectionLabel?) {
        #expect(rejection("allow_remote: false", ["sec-fetch-site": site]) == expected)
        #expect(rejection("origins: ['https://app.example']", ["sec-fetch-site": site]) == expected)
        #expect(rejection("allow_remote: false", ["sec-fetch-site": "none", "Sec-Fetch-Site": site]) == expected)
    }

    // MARK: The call

    private static let logged = "\ninterceptors: [{respond: {status: 204}}]\n"

    @Test func `a rejected call meets no interceptor and no upstream, and its connection goes on`() {
        runProxy(Self.yaml(#"hosts: ["localhost:8080"]"#) + Self.logged) { harness in
            let caller = harness.caller()
            let request = { (host: String, origin: String) in
                http("POST /pkg.Service/Say HTTP/1.1", "host: \(host)", origin, "content-length: 2", body: "{}")
            }
            caller.send(request("evil.example", "x-a: b"))
            #expect(caller.head().hasPrefix("HTTP/1.1 421 Misdirected Request\r\n"))
            let text = "the listener does not accept the host of the request; add the host to its hosts"
            caller.expect(#"{"code":"permission_denied","message":"\#(text)"}"#)
            caller.send(request("localhost:8080", "origin: https://evil.example"))
            #expect(caller.head().hasPrefix("HTTP/1.1 403 Forbidden\r\n"))
            let page = "web pages of this origin are not allowed; add the origin to the origins of the listener"
            caller.expect(#"{"code":"permission_denied","message":"\#(page)"}"#)
            caller.send(request("localhost:8080", "origin: http://localhost:8080"))
            #expect(caller.head().hasPrefix("HTTP/1.1 204 "))
            #expect(
                harness.metrics("martlet_rejected_requests_total") == [
                    #"martlet_rejected_requests_total{reason="host"} 1"#,
                    #"martlet_rejected_requests_total{reason="origin"} 1"#,
                    #"martlet_rejected_requests_total{reason="loop"} 0"#,
                ]
            )
            let verdicts = #"martlet_interceptor_verdicts_total{interceptor="respond",verdict="respond"} "#
            #expect(harness.metrics("martlet_interceptor_verdicts_total").contains(verdicts + "1"))
        }
    }

    @Test func `a preflight is rejected like what it asks for`() {
        runProxy(Self.yaml("allow_remote: false") + Self.logged) { harness in
            let caller = harness.caller()
            caller.send(
                http(
                    "OPTIONS /pkg.Service/Say HTTP/1.1",
                    "host: app",
                    "origin: https://evil.example",
                    "access-control-request-method: POST"
                )
            )
            let head = caller.head()
            #expect(head.hasPrefix("HTTP/1.1 403 "))
            #expect(!head.contains("access-control-allow"))
        }
    }

    @Test func `callers of gRPC are reported in their way`() {
        runProxy(Self.yaml("hosts: localhost") + Self.logged) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc", end: true))
            let response = caller.rest().first { $0.hasPrefix("1 ") } ?? ""
            #expect(response.contains("grpc-status: 7"), "\(response)")
            #expect(response.contains("add the host to its"), "\(response)")
        }
    }

    @Test func `whoever is reported who decided is reported that it was martlet`() {
        runProxy("listen: '127.0.0.1:8080'\nupstream: http://127.0.0.1:9000\n") { harness in
            let caller = harness.caller()
            caller.send(http("GET / HTTP/1.1", "host: app", "origin: null"))
            let head = caller.head()
            #expect(
                head.contains("\r\nproxy-status: martlet; error=http_request_denied; details=\"web pages of"),
                "\(head)"
            )
        }
    }
}
