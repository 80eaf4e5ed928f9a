import Configuration
import Documents
import Events
import Interceptors
import Testing
import Time

@testable import Credentials
@testable import Proxy

/// Calls that need a token which is not there, or is good no more; and whom a token is for.
@Suite struct TokenWaitTests {
    private static func token(_ options: String = "") -> String {
        let source = #"oauth2: {token_url: "http://127.0.0.1:9/token", client_id: me}"#
        return "\(plain)\ninterceptors: [{token: {\(source)\(options.isEmpty ? "" : ", " + options)}}]\n"
    }

    private static func text(_ message: String, code: String = "unavailable") -> String {
        #"{"code":"\#(code)","message":"\#(message)"}"#
    }

    /// The header that a call has upstream, which responds to it well.
    private func authorization(_ harness: ProxyHarness, _ caller: ScriptedPeer, _ upstream: ScriptedPeer) -> String? {
        let head = upstream.head()
        upstream.send(fine)
        caller.expect(fine)
        return head.components("\r\n").first { $0.hasPrefix("authorization: ") }.map { String($0.dropFirst(15)) }
    }

    // MARK: Time

    @Test(arguments: Transport.allCases)
    func `a token that has ended is not used, nor one that is about to end`(_ transport: Transport) {
        runProxy(transport, Self.token()) { harness in
            let caller = harness.caller()
            caller.send(get)
            harness.settle()
            harness.deliver("one", lifetime: 100 * .second)
            let upstream = harness.upstream().accept()
            #expect(authorization(harness, caller, upstream) == "Bearer one")
            harness.pass(.seconds(10))
            caller.send(get)
            #expect(authorization(harness, caller, upstream) == "Bearer one")
            _ = harness.credentialRequests.drain()
            harness.pass(.milliseconds(88_500))
            caller.send(get)
            harness.settle()
            #expect(harness.credentialRequests.drain() == ["fetch oauth2"])
            harness.deliver("two", lifetime: 100 * .second)
            let next = upstream.end == nil ? upstream : harness.upstream().accept()
            #expect(authorization(harness, caller, next) == "Bearer two")
        }
    }

    @Test func `a token that ends soon is used while another is ordered, once`() {
        runProxy(Self.token()) { harness in
            let caller = harness.caller()
            caller.send(get)
            harness.settle()
            harness.deliver("one", lifetime: 100 * .second, refresh: 10 * .second)
            let upstream = harness.upstream().accept()
            #expect(authorization(harness, caller, upstream) == "Bearer one")
            #expect(harness.credentialRequests.drain() == ["fetch oauth2"])
            harness.pass(.seconds(11))
            for _ in 1...3 {
                caller.send(get)
                #expect(authorization(harness, caller, upstream) == "Bearer one")
            }
            #expect(harness.credentialRequests.drain() == ["fetch oauth2"])
            harness.deliver("two", lifetime: 100 * .second, refresh: 10 * .second)
            caller.send(get)
            #expect(authorization(harness, caller, upstream) == "Bearer two")
        }
    }

    @Test func `a token that cannot be fetched anew is used to its end`() {
        runProxy(Self.token()) { harness in
            let caller = harness.caller()
            caller.send(get)
            harness.settle()
            harness.deliver("one", lifetime: 100 * .second)
            let upstream = harness.upstream().accept()
            #expect(authorization(harness, caller, upstream) == "Bearer one")
            harness.deliver("one", lifetime: 50 * .second, error: CredentialError("it is down", isRejection: true))
            caller.send(get)
            #expect(authorization(harness, caller, upstream) == "Bearer one")
            harness.pass(.seconds(49))
            caller.send(get)
            #expect(caller.head().hasPrefix("HTTP/1.1 503 "))
        }
    }

    // MARK: No token

    @Test func `a call waits so long and no longer`() {
        runProxy(Self.token("wait: 1s")) { harness in
            let caller = harness.caller()
            caller.send(say)
            harness.pass(.milliseconds(980))
            caller.expectNothing()
            harness.deliver(nil, error: CredentialError("it is down"))
            caller.expectNothing()
            harness.pass(.milliseconds(40))
            #expect(caller.head().hasPrefix("HTTP/1.1 503 "))
            caller.expect(Self.text("there is no token: it is down"))
            #expect(harness.upstream().connects == 0)
        }
    }

    @Test func `nobody waits for a server that rejects to give one`() {
        runProxy(Self.token()) { harness in
            let caller = harness.caller()
            caller.send(say)
            harness.settle()
            harness.deliver(nil, error: CredentialError("unknown client", isRejection: true))
            for _ in 1...2 {
                #expect(caller.head().hasPrefix("HTTP/1.1 503 "))
                caller.expect(Self.text("there is no token: unknown client"))
                caller.send(say)
            }
            _ = caller.head()
        }
    }

    @Test func `the file says what a call gets instead`() {
        runProxy(Self.token("on_error: {code: aborted, message: later}")) { harness in
            let caller = harness.caller()
            caller.send(say)
            harness.settle()
            harness.deliver(nil, error: CredentialError("unknown client", isRejection: true))
            _ = caller.head()
            caller.expect(Self.text("later", code: "aborted"))
        }
        runProxy(Self.token("on_error: continue, wait: 1s")) { harness in
            let caller = harness.caller()
            caller.send(get)
            harness.pass(.milliseconds(1020))
            #expect(authorization(harness, caller, harness.upstream().accept()) == nil)
        }
    }

    // MARK: The caller's own

    private func sent(_ options: String, _ fields: String...) -> String? {
        var sent: String?
        runProxy("\(plain)\ninterceptors: [{token: {value: ours, \(options)}}]\n") { harness in
            let caller = harness.caller()
            caller.send((["GET /p HTTP/1.1", "host: a"] + fields).joined(separator: "\r\n") + "\r\n\r\n")
            harness.settle()
            guard harness.upstream().connects > 0 else {
                sent = String(caller.head().components("\r\n")[0].dropFirst(9))
                return
            }
            sent = authorization(harness, caller, harness.upstream().accept())
        }
        return sent
    }

    @Test func `what becomes of a token that the caller sends itself`() {
        let own = "authorization: Basic own"
        #expect(sent("caller: replace", own) == "Bearer ours")
        #expect(sent("caller: keep", own) == "Basic own")
        #expect(sent("caller: strip", own) == "Bearer ours")
        #expect(sent("caller: reject", own) == "403 Forbidden")
        for policy in ["replace", "keep", "strip", "reject"] { #expect(sent("caller: \(policy)") == "Bearer ours") }
    }

    @Test func `a token that is stripped is gone even where there is none of ours`() {
        let own = http("GET /p HTTP/1.1", "host: a", "authorization: Basic own")
        for (policy, left) in [("strip", nil), ("replace", "Basic own"), ("keep", "Basic own")] {
            runProxy(Self.token("on_error: continue, wait: 1s, caller: \(policy)")) { harness in
                let caller = harness.caller()
                caller.send(own)
                harness.pass(.milliseconds(1020))
                #expect(authorization(harness, caller, harness.upstream().accept()) == left, "\(policy)")
            }
        }
    }

    @Test func `a phantom token is swapped for the real one, and nothing else is`() {
        let phantom = "phantom: {value: {value: shadow}}"
        #expect(sent(phantom, "authorization: Bearer shadow") == "Bearer ours")
        #expect(sent(phantom, "authorization: Bearer shadov") == "401 Unauthorized")
        #expect(sent(phantom, "authorization: Bearer shadows") == "401 Unauthorized")
        #expect(sent(phantom, "authorization: shadow") == "Bearer ours")
        for scheme in ["bearer", "BEARER", "bEaReR", "Bearer  "] {
            #expect(sent(phantom, "authorization: \(scheme) shadow") == "Bearer ours", "\(scheme)")
        }
        #expect(sent(phantom, "authorization: Bearershadow") == "401 Unauthorized")
        #expect(sent(phantom, "authorization: Bearer shadow", "authorization: Bearer shadow") == "400 Bad Request")
        #expect(sent(phantom, "authorization: Basic shadow") == "401 Unauthorized")
        #expect(sent(phantom) == "401 Unauthorized")
        let own = "phantom: {header: x-key, value: {value: shadow}}"
        #expect(sent(own, "x-key: shadow", "authorization: Bearer mine") == "Bearer ours")
        #expect(sent(own, "x-key: shad") == "401 Unauthorized")
    }

    // MARK: Where it may go

    private func problems(_ hosts: String, _ url: String) -> [String] {
        let diagnostics = Diagnostics()
        let yaml = """
            listen: 127.0.0.1:8080
            upstream: \(url)
            interceptors: [{token: {value: ours, hosts: [\(hosts)]}}]
            """
        _ = Plan(YAML.parse(Array(yaml.utf8), into: diagnostics), kinds: .builtIn, into: diagnostics)
        return diagnostics.lines(file: "f")
    }

    @Test func `a token goes to its hosts only, also where the caller says which`() {
        let token =
            "token: {value: ours, hosts: [api.example, 127.0.0.1, \"b.example:9000\"], allow_clear_text: true, on_error: continue}"
        let yaml = """
            listen: 127.0.0.1:8080
            upstreams: {default: {url: "http://127.0.0.1:9000", host: caller}}
            interceptors: [{\(token)}]
            """
        runProxy(yaml) { harness in
            let caller = harness.caller()
            for (host, value) in [
                ("API.example", "Bearer ours"), ("api.example.:81", "Bearer ours"), ("other.example", nil),
                ("127.0.0.1:9000", "Bearer ours"), ("api.example.evil", nil),
                ("b.example", "Bearer ours"), ("b.example:9000", "Bearer ours"), ("b.example:81", nil),
            ] {
                caller.send(http("GET /p HTTP/1.1", "host: \(host)"))
                let upstream = harness.upstream().accept()
                #expect(authorization(harness, caller, upstream) == value, "\(host)")
                upstream.close()
            }
        }
    }

    @Test func `what is asked of callers holds also where the token does not go`() {
        func sent(_ options: String, _ field: String) -> String? {
            let yaml = """
                listen: 127.0.0.1:8080
                upstreams: {default: {url: "http://192.0.2.1:80"}}
                interceptors: [{when: {path: /}, token: {value: ours, on_error: continue, \(options)}}]
                """
            var found: String?
            runProxy(yaml) { harness in
                let caller = harness.caller()
                caller.send(http("GET /p HTTP/1.1", "host: a", field))
                if options.contains("reject") {
                    found = String(caller.head().split(separator: "\r\n")[0].dropFirst(9))
                } else {
                    found = authorization(harness, caller, harness.upstream("192.0.2.1:80").accept())
                }
            }
            return found
        }
        #expect(sent("caller: keep", "authorization: own") == "own")
        #expect(sent("caller: strip", "authorization: own") == nil)
        #expect(sent("caller: reject", "authorization: own") == "403 Forbidden")
        #expect(sent("phantom: {value: {value: shadow}}", "authorization: Bearer shadow") == nil)
        #expect(sent("phantom: {value: {value: shadow}}", "x-a: b") == nil)
    }

    // MARK: Whose it is

    @Test func `a token made for one caller is not for another whose name only looks the same`() {
        let users = ["ren\u{e9}", "rene\u{301}", "\u{212a}", "K"]
        let programs = users.map {
            CredentialSource.exec(ExecSource(command: ["/bin/x", $0], environment: [:], response: .text, timeout: nil))
        }
        let claims = users.map { JWTClaims(subject: $0) }
        let others = users.map { JWTClaims(others: [.init("name", .string($0))]) }
        for (left, right) in [(0, 1), (1, 0), (2, 3)] {
            #expect(programs[left] != programs[right])
            #expect(claims[left] != claims[right])
            #expect(others[left] != others[right])
        }
        #expect(Set(programs).count == 4)
        #expect(claims[0] == JWTClaims(subject: users[0]))
    }

    @Test func `a token goes to its hosts only`() {
        #expect(problems("api.example", "https://api.example") == [])
        #expect(problems("API.example", "https://api.EXAMPLE:8443") == [])
        #expect(problems(#""api.example:8443""#, "https://api.example:8443") == [])
        for (hosts, url) in [
            ("api.example", "https://other.example"), (#""api.example:8443""#, "https://api.example"),
            ("example", "https://api.example"), ("api.example", "https://api.example.evil"),
        ] {
            let found = problems(hosts, url)
            #expect(found.count == 1)
            #expect(found.first?.contains("the token cannot be sent to \(url)") == true, "\(found)")
        }
    }
}
