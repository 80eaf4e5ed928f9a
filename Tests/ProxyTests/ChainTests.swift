import Testing

@Suite struct ChainTests {
    private func chain(_ items: String...) -> String {
        plain + "\ninterceptors:\n" + items.map { "  - \($0)\n" }.joined()
    }

    /// One call, answered by the upstream with `fine`, or not at all.
    private func call(_ scene: Scene, reachesUpstream: Bool = true) -> String {
        let caller = scene.caller()
        caller.send(say)
        if reachesUpstream {
            let upstream = scene.upstream().accept()
            _ = upstream.head()
            upstream.send(fine)
        } else {
            scene.upstream().expectNobody()
        }
        let head = caller.head()
        caller.close()
        return head
    }

    @Test(arguments: Stage.allCases)
    func `requests go first to last, responses and the end last to first`(_ stage: Stage) {
        play(stage, chain("probe: {}", "{name: b, probe: {}}", "{name: c, probe: {}}")) { scene in
            let caller = scene.caller()
            caller.send(say)
            let upstream = scene.upstream().accept()
            #expect(upstream.head().contains("x-trace: probe\r\nx-trace: b\r\nx-trace: c\r\n"))
            #expect(scene.diary.take() == ["probe request", "b request", "c request"])
            upstream.send(fine)
            #expect(caller.head().contains("x-trace: c\r\nx-trace: b\r\nx-trace: probe\r\n"))
            let ends = ["c", "b", "probe"].map { "\($0) finished ok by upstream" }
            #expect(scene.diary.take() == ["c response", "b response", "probe response"] + ends)
        }
    }

    @Test func `trailers go back through the chain where messages have envelopes`() {
        play(chain("{name: a, probe: {}}", "{name: b, probe: {}}")) { scene in
            let caller = scene.caller()
            caller.send(
                http("POST /s/m HTTP/1.1", "host: a", "content-type: application/grpc-web", "content-length: 0")
            )
            let upstream = scene.upstream().accept()
            _ = upstream.head()
            _ = scene.diary.take()
            let type = "content-type: application/grpc-web"
            upstream.send(
                http("HTTP/1.1 200 OK", type, "transfer-encoding: chunked", body: "0\r\nx-a: 5\r\n\r\n")
            )
            _ = caller.head()
            let trailers = ["b response", "a response", "b trailers", "a trailers"]
            #expect(scene.diary.take() == trailers + ["b", "a"].map { "\($0) finished unknown by upstream" })
        }
    }

    @Test func `each call has its own instances, of the chain it takes only`() {
        let other =
            "\nchains: {other: [{name: x, probe: {numbers: true}}]}\nroutes: [{match: {path: /x}, chain: other}, {}]\n"
        play(chain("{name: a, probe: {numbers: true}}") + other) { scene in
            scene.diary.instances = 0
            let callers = (scene.caller(), scene.caller())
            callers.0.send(say)
            callers.1.send(say)
            callers.0.close()
            callers.1.close()
            let expected = [
                "a#1 request", "a#2 request", "a#1 finished canceled by caller", "a#2 finished canceled by caller",
            ]
            #expect(scene.diary.take() == expected)
            let third = scene.caller()
            third.send(http("GET /x HTTP/1.1", "host: a"))
            third.close()
            #expect(scene.diary.take() == ["x#3 request", "x#3 finished canceled by caller"])
        }
    }

    @Test func `a rejected request ends where it is, and only those it came to are told`() {
        play(chain("{name: a, probe: {}}", "{name: b, probe: {request: reject}}", "{name: c, probe: {}}")) { scene in
            #expect(call(scene, reachesUpstream: false).hasPrefix("HTTP/1.1 403 Forbidden\r\n"))
            let ends = ["b", "a"].map { "\($0) finished permission_denied by interceptor(\"b\")" }
            #expect(scene.diary.take() == ["a request", "b request"] + ends)
            let name = #"martlet_interceptor_verdicts_total{interceptor="b",verdict="reject"} "#
            #expect(scene.metrics("martlet_interceptor_verdicts_total").contains(name + "1"))
        }
    }

    @Test func `what an interceptor responds goes back through those before it`() {
        play(chain("{name: a, probe: {}}", "{name: b, probe: {request: respond}}", "{name: c, probe: {}}")) { scene in
            #expect(call(scene, reachesUpstream: false) == http("HTTP/1.1 200 OK", "x-trace: a", "content-length: 4"))
            // A response of no type is none to a client of Connect.
            let ends = ["b", "a"].map { "\($0) finished unknown by interceptor(\"b\")" }
            #expect(scene.diary.take() == ["a request", "b request", "a response"] + ends)
            let name = #"martlet_interceptor_verdicts_total{interceptor="b",verdict="respond"} "#
            #expect(scene.metrics("martlet_interceptor_verdicts_total").contains(name + "1"))
        }
    }

    @Test(arguments: Stage.allCases)
    func `the body of a rejected request is thrown away, and the connection goes on`(_ stage: Stage) {
        play(stage, chain("{when: {path: /p}, reject: {code: aborted}}")) { scene in
            let caller = scene.caller()
            caller.send(http("POST /p HTTP/1.1", "host: a", "content-length: 100000"))
            #expect(caller.head().hasPrefix("HTTP/1.1 409 Conflict\r\n"))
            caller.expect(#"{"code":"aborted"}"#)
            caller.send(String(repeating: "a", count: 100_000) + say)
            scene.upstream().accept().expect(saidUpstream)
        }
    }

    @Test(arguments: Stage.allCases)
    func `the body of a rejected request that waits for 100 Continue is not asked for`(_ stage: Stage) {
        play(stage, chain("{when: {path: /p}, reject: {code: aborted}}")) { scene in
            let caller = scene.caller()
            caller.send(http("POST /p HTTP/1.1", "host: a", "expect: 100-continue", "content-length: 100000"))
            let head = caller.head()
            #expect(head.hasPrefix("HTTP/1.1 409 Conflict\r\n"))
            #expect(head.contains("\r\nconnection: close\r\n"))
            caller.expect(#"{"code":"aborted"}"#)
            caller.expectEnd()
        }
    }

    @Test(arguments: Stage.allCases)
    func `a response that is rejected never reaches the caller, those before see an error`(_ stage: Stage) {
        play(stage, chain("{name: a, probe: {}}", "{name: b, probe: {response: reject}}", "{name: c, probe: {}}")) {
            scene in
            #expect(call(scene).hasPrefix("HTTP/1.1 403 Forbidden\r\n"))
            let ends = ["c", "b", "a"].map { "\($0) finished permission_denied by interceptor(\"b\")" }
            let before = ["a request", "b request", "c request", "c response", "b response", "a response"]
            #expect(scene.diary.take() == before + ends)
        }
    }

    @Test(arguments: Stage.allCases)
    func `a response that is replaced goes on from there`(_ stage: Stage) {
        play(stage, chain("{name: a, probe: {}}", "{name: b, probe: {response: respond}}", "{name: c, probe: {}}")) {
            scene in
            #expect(call(scene) == http("HTTP/1.1 200 OK", "x-trace: a", "content-length: 4"))
            let ends = ["c", "b", "a"].map { "\($0) finished unknown by interceptor(\"b\")" }
            let before = ["a request", "b request", "c request", "c response", "b response", "a response"]
            #expect(scene.diary.take() == before + ends)
        }
    }

    @Test func `a failure behind the chain goes back through it, and can be replaced`() {
        play(chain("{name: a, probe: {}}", "{name: b, probe: {response: respond}}", "{name: c, probe: {}}")) { scene in
            scene.upstream().behaviour = .refuses
            let caller = scene.caller()
            caller.send(say)
            #expect(caller.head() == http("HTTP/1.1 200 OK", "x-trace: a", "content-length: 4"))
            let before = ["a request", "b request", "c request", "c response", "b response", "a response"]
            #expect(scene.diary.take().prefix(6) == before[...])
        }
    }

    @Test func `a failure behind the chain that is rejected is counted as a verdict`() {
        play(chain("{name: b, probe: {response: reject}}")) { scene in
            scene.upstream().behaviour = .refuses
            let caller = scene.caller()
            caller.send(say)
            #expect(caller.head().hasPrefix("HTTP/1.1 403 Forbidden\r\n"))
            let name = #"martlet_interceptor_verdicts_total{interceptor="b",verdict="reject"} "#
            #expect(scene.metrics("martlet_interceptor_verdicts_total").contains(name + "1"))
        }
    }
}
