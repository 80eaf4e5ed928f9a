import HTTP2Kit
import Proxy
import Testing
import Time

/// Which interceptors a call goes through once more when it is retried.
@Suite struct AttemptTests {
    private func chain(_ items: String...) -> String {
        "listen: 127.0.0.1:8080\nupstream: h2c://127.0.0.1:9000\ninterceptors:\n"
            + items.map { "  - \($0)\n" }.joined()
    }

    /// A call that is rejected once and answered then; the heads that went upstream, without their control data.
    private func heads(_ harness: ProxyHarness) -> [String] {
        let caller = harness.http2Caller()
        caller.send(.say(1, "application/json"), .data(1, "{}", end: true))
        let upstream = harness.upstream().acceptHTTP2(in: harness)
        let first = upstream.next()
        _ = upstream.next()
        upstream.send(.reset(1, .rejected))
        let second = upstream.next()
        upstream.expect("3 DATA/end {}")
        upstream.send(.response(3, end: true))
        #expect(caller.next().hasPrefix("1 HEADERS/end :status: 200"))
        return [first, second].map {
            String($0.split(separator: "application/json", omittingEmptySubsequences: false).last!)
        }
    }

    @Test(arguments: Transport.allCases)
    func `an interceptor that runs for each attempt gets the head as it came to it, and others are not reported again`(
        _ transport: Transport
    ) {
        let yaml = chain(
            "{name: once, probe: {}}",
            #"{per: attempt, headers: {request: {add: {x-try: "1"}, remove: [x-trace]}}}"#,
            "{name: behind, probe: {}}",
            "{headers: {request: {rename: {x-try: x-tried}}}}"
        )
        runProxy(transport, yaml) { harness in
            #expect(heads(harness) == [" | x-tried: 1 | x-trace: behind", " | x-tried: 1"])
            #expect(harness.eventLog.drain().filter { $0.hasSuffix("request") } == ["once request", "behind request"])
        }
    }

    @Test(arguments: Transport.allCases)
    func `what runs for each attempt is reported of each`(_ transport: Transport) {
        runProxy(transport, chain("{name: a, probe: {}}", "{name: b, per: attempt, probe: {}}")) { harness in
            let trace = " | x-trace: a | x-trace: b"
            #expect(heads(harness) == [trace, trace])
            let requests = harness.eventLog.drain().filter { $0.hasSuffix("request") }
            #expect(requests == ["a request", "b request", "b request"])
        }
    }

    @Test func `a token is put into each attempt, be it another by then`() {
        runProxy(chain("{token: {file: /t}}")) { harness in
            harness.worker.updateToken("/t", Array("one".utf8))
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/json", end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            #expect(upstream.next().hasSuffix("authorization: Bearer one"))
            harness.worker.updateToken("/t", Array("two".utf8))
            upstream.send(.reset(1, .rejected))
            #expect(upstream.next().hasSuffix("authorization: Bearer two"))
        }
    }

    @Test func `a token that has gone meanwhile rejects the call`() {
        runProxy(chain("{token: {file: /t}}")) { harness in
            harness.worker.updateToken("/t", Array("one".utf8))
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/json", end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = upstream.next()
            harness.worker.updateToken("/t", nil)
            upstream.send(.reset(1, .rejected))
            #expect(caller.next().hasPrefix("1 HEADERS :status: 503"))
            upstream.expectNothing()
        }
    }

    @Test func `a retry begins at the first interceptor for attempts that the call came to`() {
        runProxy(chain("{when: {host: nobody}, token: {file: /a, header: x-a}}", "{name: t2, token: {file: /t}}")) {
            harness in
            harness.worker.updateToken("/a", Array("a".utf8))
            harness.worker.updateToken("/t", Array("one".utf8))
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/json", end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            #expect(upstream.next().hasSuffix("authorization: Bearer one"))
            harness.worker.updateToken("/t", Array("two".utf8))
            upstream.send(.reset(1, .rejected))
            #expect(upstream.next().hasSuffix("authorization: Bearer two"))
        }
    }

    @Test func `the changed message of a GET is that of each attempt`() {
        runProxy(chain("{message: {on: request, replace: {text: hidden}}}", "{token: {file: /t}}")) { harness in
            harness.worker.updateToken("/t", Array("one".utf8))
            let caller = harness.http2Caller()
            caller.send(.get(1, "/pkg.Service/Say?connect=v1&encoding=json&message=secret"))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            let message = "connect=v1&base64=1&encoding=json&message=aGlkZGVu"
            #expect(upstream.next().contains(message))
            upstream.send(.reset(1, .rejected))
            #expect(upstream.next().contains(message))
        }
    }

    @Test func `a limit for each attempt does not count the attempt before`() {
        runProxy(chain("{per: attempt, limit: {concurrency: 1}}")) { harness in
            _ = heads(harness)
        }
    }

    @Test func `the time of a call runs while the head of a retry waits`() {
        let yaml = """
            listeners: [{address: "127.0.0.1:8080", proxy_status: off, timeouts: {suspension: 1h}}]
            upstreams: {u: {url: "h2c://127.0.0.1:9000", timeouts: {call: 2s}}}
            interceptors: [{per: attempt, gate: {sees: [request head], hold: [request head]}}]
            """
        runProxy(yaml) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc", end: true))
            harness.settle()
            harness.gates["gate"].releaseAll()
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = upstream.next()
            upstream.send(.reset(1, .rejected))
            harness.settle()
            harness.pass(.seconds(3))
            #expect(caller.next().contains("grpc-status: 4"))
        }
    }
}
