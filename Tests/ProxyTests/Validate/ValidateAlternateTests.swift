import HTTP2Kit
import Testing

@testable import Proxy

/// Calls that are retried when something else was done first.
@Suite struct ValidateAlternateTests {
    private static let login = "login: {url: 'http://127.0.0.1:9100/login'}"
    private static let rejected = bare("401 Unauthorized")

    private static func afterLogin(_ more: String = "", retries: Int = 1) -> String {
        validating(
            """
            rules: [{when: {status: 401}, retry: {}}], max_retries: \(retries), retry: {after: login, \
            capture: {token: 'json:/token'}, set: {authorization: 'Bearer {token}'}\(more)}
            """,
            calls: login
        )
    }

    private func loggedIn(_ harness: ProxyHarness, _ response: String) {
        let login = harness.upstream("127.0.0.1:9100").accept()
        #expect(login.head().hasPrefix("GET /login HTTP/1.1\r\n"))
        login.send(response)
        harness.settle()
        login.close()
    }

    private func token(_ token: String) -> String {
        let body = #"{"token":"\#(token)"}"#
        return http("HTTP/1.1 200 OK", "content-length: \(body.utf8.count)", body: body)
    }

    @Test(arguments: Transport.allCases)
    func `a rejected call goes again with what another call has brought`(_ transport: Transport) {
        runProxy(transport, Self.afterLogin()) { harness in
            let caller = harness.caller()
            caller.send(say)
            let upstream = harness.upstream().accept()
            upstream.expect(saidUpstream)
            upstream.send(Self.rejected)
            loggedIn(harness, token("t2"))
            let head = upstream.head()
            #expect(head.contains("\r\nauthorization: Bearer t2\r\n"), "\(head)")
            upstream.expect("{}")
            upstream.send(fine)
            caller.expect(fine)
        }
    }

    @Test func `an error of gRPC is answered by another call likewise`() {
        let yaml = Self.afterLogin().replacing("{status: 401}", with: "{code: unauthenticated}")
            .replacing("http://127.0.0.1:9000", with: "h2c://127.0.0.1:9000")
        runProxy(yaml) { harness in
            let call = CallScript(harness, .grpc)
            call.begin()
            call.say("{}", end: true)
            call.accept()
            call.upstreamReceives("head", "message {}", "end")
            call.respond()
            call.fail("unauthenticated", "old", 16)
            loggedIn(harness, token("t2"))
            call.accept(on: call.upstream, stream: 3)
            call.upstreamReceives("head", "message {}", "end")
            #expect(call.upstreamFrames.head["authorization"] == "Bearer t2")
            call.respond()
            call.reply("hello")
            call.conclude()
            call.callerReceives("head", "message hello", "end ok")
        }
    }

    @Test func `a status that is no success does not stop the request, and the last response passes`() {
        runProxy(Self.afterLogin(retries: 2)) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            for _ in 0..<2 {
                upstream.expect(gotUpstream)
                upstream.send(Self.rejected)
                loggedIn(harness, bare("500 Internal Server Error"))
            }
            upstream.expect(gotUpstream)
            upstream.send(Self.rejected)
            caller.expect(Self.rejected)
        }
    }

    @Test func `another call that gets no response fails the call`() {
        runProxy(Self.afterLogin()) { harness in
            let caller = harness.caller()
            caller.send(say)
            let upstream = harness.upstream().accept()
            upstream.expect(saidUpstream)
            upstream.send(Self.rejected)
            let login = harness.upstream("127.0.0.1:9100").accept()
            _ = login.head()
            login.reset()
            #expect(caller.head().hasPrefix("HTTP/1.1 503 "))
            upstream.expectNothing()
        }
    }

    @Test func `max_alt bounds the other calls, and then the call fails`() {
        runProxy(Self.afterLogin(", max_alt: 1", retries: 5)) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            upstream.send(Self.rejected)
            loggedIn(harness, token("t2"))
            #expect(upstream.head().contains("Bearer t2"))
            upstream.send(Self.rejected)
            #expect(caller.head().hasPrefix("HTTP/1.1 503 "))
            harness.upstream("127.0.0.1:9100").expectNobody()
        }
    }

    @Test func `calls that wait for the same call share it`() {
        runProxy(Self.afterLogin().replacing("http://127.0.0.1:9000", with: "h2c://127.0.0.1:9000")) { harness in
            let callers = [harness.caller(), harness.caller()]
            for caller in callers { caller.send(get) }
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            for stream in [1, 3] {
                #expect(upstream.next().hasPrefix("\(stream) HEADERS/end"))
                upstream.send(.response(stream, 401, end: true))
            }
            loggedIn(harness, token("t2"))
            harness.upstream("127.0.0.1:9100").expectNobody()
            for stream in [5, 7] {
                #expect(upstream.next().contains("authorization: Bearer t2"))
                upstream.send(.response(stream, 200, end: true))
            }
            for caller in callers { #expect(caller.head().hasPrefix("HTTP/1.1 200 ")) }
        }
    }

    @Test func `a caller that goes away has the other call given up`() {
        runProxy(Self.afterLogin()) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            upstream.send(Self.rejected)
            let login = harness.upstream("127.0.0.1:9100").accept()
            _ = login.head()
            caller.reset()
            login.expectGone()
        }
    }

    @Test(arguments: [("/bin/echo, t9", true), ("/bin/false", false)])
    func `a program runs first, and the request goes again whatever becomes of it`(
        _ command: String,
        _ succeeds: Bool
    ) {
        let yaml = validating(
            """
            rules: [{when: {status: 401}, retry: {after_task: {exec: [\(command)]}, capture: {t: text}, \
            set: {x-t: 'v={t}'}}}], max_retries: 1
            """
        )
        runProxy(.sockets, yaml) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            upstream.send(Self.rejected)
            #expect(upstream.head().contains("x-t: v=t9\r\n") == succeeds)
            upstream.send(fine)
            caller.expect(fine)
        }
    }
}
