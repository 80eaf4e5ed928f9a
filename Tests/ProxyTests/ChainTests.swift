import Testing

@Suite struct ChainTests {
    private func chain(_ items: String...) -> String {
        plain + "\ninterceptors:\n" + items.map { "  - \($0)\n" }.joined()
    }

    /// One call, answered by the upstream with `fine`, or not at all.
    private func call(_ harness: ProxyHarness, reachesUpstream: Bool = true) -> String {
        let caller = harness.caller()
        caller.send(say)
        if reachesUpstream {
            let upstream = harness.upstream().accept()
            _ = upstream.head()
            upstream.send(fine)
        } else {
            harness.upstream().expectNobody()
        }
        let head = caller.head()
        caller.close()
        return head
    }

    @Test(arguments: Transport.allCases)
    func `requests go first to last, responses and the end last to first`(_ transport: Transport) {
        runProxy(transport, chain("probe: {}", "{name: b, probe: {}}", "{name: c, probe: {}}")) { harness in
            let caller = harness.caller()
            caller.send(say)
            let upstream = harness.upstream().accept()
            #expect(upstream.head().contains("x-trace: probe\r\nx-trace: b\r\nx-trace: c\r\n"))
            #expect(harness.eventLog.drain() == ["probe request", "b request", "c request"])
            upstream.send(fine)
            #expect(caller.head().contains("x-trace: c\r\nx-trace: b\r\nx-trace: probe\r\n"))
            let ends = ["c", "b", "probe"].map { "\($0) finished ok by upstream" }
            #expect(harness.eventLog.drain() == ["c response", "b response", "probe response"] + ends)
        }
    }

    @Test func `trailers go back through the chain where messages have envelopes`() {
        runProxy(chain("{name: a, probe: {}}", "{name: b, probe: {}}")) { harness in
            let caller = harness.caller()
            caller.send(
                http("POST /s/m HTTP/1.1", "host: a", "content-type: application/grpc-web", "content-length: 0")
            )
            let upstream = harness.upstream().accept()
            _ = upstream.head()
            _ = harness.eventLog.drain()
            let type = "content-type: application/grpc-web"
            upstream.send(
                http("HTTP/1.1 200 OK", type, "transfer-encoding: chunked", body: "0\r\nx-a: 5\r\n\r\n")
            )
            _ = caller.head()
            let trailers = ["b response", "a response", "b trailers", "a trailers"]
            #expect(harness.eventLog.drain() == trailers + ["b", "a"].map { "\($0) finished unknown by upstream" })
        }
    }

    @Test func `each call has a state in the chain it takes only`() {
        let other =
            "\nchains: {other: [{name: x, probe: {numbers: true}}]}\nroutes: [{match: {path: /x}, chain: other}, {}]\n"
        runProxy(chain("{name: a, probe: {numbers: true}}") + other) { harness in
            harness.eventLog.calls = 0
            let callers = (harness.caller(), harness.caller())
            callers.0.send(say)
            callers.1.send(say)
            callers.0.close()
            callers.1.close()
            let expected = [
                "a#1 request", "a#2 request", "a#1 finished canceled by caller", "a#2 finished canceled by caller",
            ]
            #expect(harness.eventLog.drain() == expected)
            let third = harness.caller()
            third.send(http("GET /x HTTP/1.1", "host: a"))
            third.close()
            #expect(harness.eventLog.drain() == ["x#3 request", "x#3 finished canceled by caller"])
        }
    }

    @Test func `a rejected request ends where it is, and only those it came to are reported`() {
        runProxy(chain("{name: a, probe: {}}", "{name: b, probe: {request: reject}}", "{name: c, probe: {}}")) {
            harness in
            #expect(call(harness, reachesUpstream: false).hasPrefix("HTTP/1.1 403 Forbidden\r\n"))
            let ends = ["b", "a"].map { "\($0) finished permission_denied by interceptor(\"b\")" }
            #expect(harness.eventLog.drain() == ["a request", "b request"] + ends)
            let name = #"martlet_interceptor_verdicts_total{interceptor="b",verdict="reject"} "#
            #expect(harness.metrics("martlet_interceptor_verdicts_total").contains(name + "1"))
        }
    }

    @Test func `the response of an interceptor goes back through those before it`() {
        runProxy(chain("{name: a, probe: {}}", "{name: b, probe: {request: respond}}", "{name: c, probe: {}}")) {
            harness in
            #expect(call(harness, reachesUpstream: false) == http("HTTP/1.1 200 OK", "x-trace: a", "content-length: 4"))
            // A response of no type is none to a client of Connect.
            let ends = ["b", "a"].map { "\($0) finished unknown by interceptor(\"b\")" }
            #expect(harness.eventLog.drain() == ["a request", "b request", "a response"] + ends)
            let name = #"martlet_interceptor_verdicts_total{interceptor="b",verdict="respond"} "#
            #expect(harness.metrics("martlet_interceptor_verdicts_total").contains(name + "1"))
        }
    }

    @Test(arguments: Transport.allCases)
    func `the body of a rejected request is thrown away, and the connection goes on`(_ transport: Transport) {
        runProxy(transport, chain("{when: {path: /p}, reject: {code: aborted}}")) { harness in
            let caller = harness.caller()
            caller.send(http("POST /p HTTP/1.1", "host: a", "content-length: 100000"))
            #expect(caller.head().hasPrefix("HTTP/1.1 409 Conflict\r\n"))
            caller.expect(#"{"code":"aborted"}"#)
            caller.send(String(repeating: "a", count: 100_000) + say)
            harness.upstream().accept().expect(saidUpstream)
        }
    }

    @Test(arguments: Transport.allCases)
    func `the body of a rejected request that waits for 100 Continue is not asked for`(_ transport: Transport) {
        runProxy(transport, chain("{when: {path: /p}, reject: {code: aborted}}")) { harness in
            let caller = harness.caller()
            caller.send(http("POST /p HTTP/1.1", "host: a", "expect: 100-continue", "content-length: 100000"))
            let head = caller.head()
            #expect(head.hasPrefix("HTTP/1.1 409 Conflict\r\n"))
            #expect(head.contains("\r\nconnection: close\r\n"))
            caller.expect(#"{"code":"aborted"}"#)
            caller.expectEnd()
        }
    }

    @Test(arguments: Transport.allCases)
    func `a response that is rejected never reaches the caller, those before see an error`(_ transport: Transport) {
        runProxy(
            transport,
            chain("{name: a, probe: {}}", "{name: b, probe: {response: reject}}", "{name: c, probe: {}}")
        ) {
            harness in
            #expect(call(harness).hasPrefix("HTTP/1.1 403 Forbidden\r\n"))
            let ends = ["c", "b", "a"].map { "\($0) finished permission_denied by interceptor(\"b\")" }
            let before = ["a request", "b request", "c request", "c response", "b response", "a response"]
            #expect(harness.eventLog.drain() == before + ends)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a response that is replaced goes on from there`(_ transport: Transport) {
        runProxy(
            transport,
            chain("{name: a, probe: {}}", "{name: b, probe: {response: respond}}", "{name: c, probe: {}}")
        ) {
            harness in
            #expect(call(harness) == http("HTTP/1.1 200 OK", "x-trace: a", "content-length: 4"))
            let ends = ["c", "b", "a"].map { "\($0) finished unknown by interceptor(\"b\")" }
            let before = ["a request", "b request", "c request", "c response", "b response", "a response"]
            #expect(harness.eventLog.drain() == before + ends)
        }
    }

    @Test func `a error behind the chain goes back through it, and can be replaced`() {
        runProxy(chain("{name: a, probe: {}}", "{name: b, probe: {response: respond}}", "{name: c, probe: {}}")) {
            harness in
            harness.upstream().behaviour = .rejects
            let caller = harness.caller()
            caller.send(say)
            #expect(caller.head() == http("HTTP/1.1 200 OK", "x-trace: a", "content-length: 4"))
            let before = ["a request", "b request", "c request", "c response", "b response", "a response"]
            #expect(harness.eventLog.drain().prefix(6) == before[...])
        }
    }

    @Test func `a error behind the chain that is rejected is counted as a verdict`() {
        runProxy(chain("{name: b, probe: {response: reject}}")) { harness in
            harness.upstream().behaviour = .rejects
            let caller = harness.caller()
            caller.send(say)
            #expect(caller.head().hasPrefix("HTTP/1.1 403 Forbidden\r\n"))
            let name = #"martlet_interceptor_verdicts_total{interceptor="b",verdict="reject"} "#
            #expect(harness.metrics("martlet_interceptor_verdicts_total").contains(name + "1"))
        }
    }
}
