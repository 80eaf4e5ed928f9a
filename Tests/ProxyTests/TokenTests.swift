import Testing

@testable import Proxy

@Suite struct TokenTests {
    private static func token(_ options: String, url: String = "http://127.0.0.1:9000") -> String {
        "listen: 127.0.0.1:8080\nupstream: \(url)\ninterceptors: [{token: {\(options)}}]\n"
    }

    private static let file = token("file: /run/token")

    private func authorization(_ harness: ProxyHarness, _ caller: ScriptedPeer, _ upstream: ScriptedPeer) -> [String] {
        caller.send(get)
        let head = upstream.head()
        upstream.send(fine)
        caller.expect(fine)
        return head.split(separator: "\r\n").map(String.init).filter { $0.hasPrefix("authorization") }
    }

    @Test(arguments: Transport.allCases)
    func `the token of a file is in every request, and a new one in those that follow`(_ transport: Transport) {
        runProxy(transport, Self.file) { harness in
            harness.worker.updateToken("/run/token", Array("one".utf8))
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            #expect(
                upstream.head()
                    == http("GET /pkg.Service/Look HTTP/1.1", "host: 127.0.0.1:9000", "authorization: Bearer one")
            )
            upstream.send(fine)
            caller.expect(fine)
            harness.worker.updateToken("/run/token", Array("two".utf8))
            #expect(authorization(harness, caller, upstream) == ["authorization: Bearer two"])
            harness.worker.updateToken("/run/other", Array("three".utf8))
            #expect(authorization(harness, caller, upstream) == ["authorization: Bearer two"])
        }
    }

    @Test func `a token comes with the configuration and stays through the next`() {
        runProxy(Self.file) { harness in
            harness.use(Self.file, tokens: ["/run/token": "one"])
            harness.use(Self.token("file: /run/token, header: x-key, format: \"k={token};\""))
            let caller = harness.caller()
            caller.send(http("GET /p HTTP/1.1", "host: a", "x-key: mine", "authorization: kept"))
            let lines = ["GET /p HTTP/1.1", "host: 127.0.0.1:9000", "x-key: k=one;", "authorization: kept"]
            #expect(harness.upstream().accept().head() == lines.joined(separator: "\r\n") + "\r\n\r\n")
        }
    }

    @Test func `without a token a call fails`() {
        runProxy(Self.file) { harness in
            let caller = harness.caller()
            caller.send(say)
            #expect(caller.head().hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            caller.expect(#"{"code":"unavailable","message":"there is no token in /run/token"}"#)
            harness.worker.updateToken("/run/token", Array("one".utf8))
            caller.send(get)
            let upstream = harness.upstream().accept()
            #expect(upstream.head().contains("\r\nauthorization: Bearer one\r\n"))
            upstream.send(fine)
            caller.expect(fine)
            harness.worker.updateToken("/run/token", nil)
            caller.send(say)
            #expect(caller.head().hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
        }
    }

    @Test func `on_error says what a call without a token gets`() {
        runProxy(Self.token("file: /run/token, on_error: {code: unauthenticated, message: log in first}")) {
            harness in
            let caller = harness.caller()
            caller.send(say)
            #expect(caller.head().hasPrefix("HTTP/1.1 401 Unauthorized\r\n"))
            caller.expect(#"{"code":"unauthenticated","message":"log in first"}"#)
            harness.use(Self.token("file: /run/token, on_error: {code: aborted}"))
            caller.send(say)
            #expect(caller.head().hasPrefix("HTTP/1.1 409 Conflict\r\n"))
            caller.expect(#"{"code":"aborted","message":"there is no token in /run/token"}"#)
            harness.use(Self.token("file: /run/token, on_error: continue"))
            caller.send(say)
            harness.upstream().accept().expect(saidUpstream)
        }
    }

    @Test func `a token does not leave the machine in clear text`() {
        // With a condition, as `check` rejects it for all calls.
        let token = { (options: String) in
            Self.token(options, url: "http://192.0.2.1:80").replacing("{token", with: "{when: {path: /}, token")
        }
        runProxy(token("file: /run/token")) { harness in
            harness.worker.updateToken("/run/token", Array("one".utf8))
            let caller = harness.caller()
            caller.send(say)
            #expect(caller.head().hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            caller.expect(#"{"code":"unavailable","message":"the token cannot be sent to default in clear text"}"#)
            harness.upstream("192.0.2.1:80").expectNobody()

            harness.use(token("file: /run/token, on_error: continue"))
            caller.send(get)
            let upstream = harness.upstream("192.0.2.1:80").accept()
            upstream.expect(http("GET /pkg.Service/Look HTTP/1.1", "host: 192.0.2.1"))
            upstream.send(fine)
            caller.expect(fine)

            harness.use(token("file: /run/token, allow_clear_text: true"))
            #expect(authorization(harness, caller, upstream) == ["authorization: Bearer one"])
        }
    }

    @Test func `a token goes through a Unix socket`() {
        runProxy(Self.token("file: /run/token", url: "unix:/run/app.sock")) { harness in
            harness.worker.updateToken("/run/token", Array("one".utf8))
            harness.caller().send(get)
            let head = harness.upstream("unix:/run/app.sock").accept().head()
            #expect(head == http("GET /pkg.Service/Look HTTP/1.1", "host: app", "authorization: Bearer one"))
        }
    }
}
