import HTTP2Kit
import Protocols
import RPC
import Testing
import Time

@testable import Proxy

/// The heads of responses that wait for the outcome, and interceptors that make them wait longer, or decide.
@Suite struct LateHeadTests {
    private static func chain(_ gate: String) -> String {
        "{name: z, when: {code: aborted}, applies: unary, gate: {sees: [response head, response end]}}, "
            + "{name: a, when: {code: aborted}, applies: unary, gate: {sees: [response head, response end], \(gate)}}"
    }

    /// Plays a call that fails upstream as `a` is for, until `a` has been shown the head.
    private func fail(_ gate: String, listener: String = "", _ script: (CallScript) -> Void) {
        runCall(Self.chain(gate), in: [.connectUnary], listener: listener) { call in
            call.begin()
            call.say("{}", end: true)
            call.accept()
            call.fail("aborted", "no", 10, status: 409)
            call.harness.settle()
            script(call)
        }
    }

    /// What the interceptors have seen, but for the end of the call.
    private func seen(_ call: CallScript) -> [String] {
        call.harness.settle()
        return call.harness.eventLog.drain().filter { !$0.contains("finished") }
    }

    private static let all = ["a response head", "a response end aborted", "z response head", "z response end aborted"]

    @Test func `an end waits for the head before it, and comes to the same interceptor then`() {
        fail("hold: [response head]") { call in
            let gate = call.harness.gates["a"]
            #expect(gate.events == ["response head"])
            #expect(call.callerFrames.received.isEmpty)
            gate.release()
            call.callerReceives("head", "end aborted no")
            #expect(gate.shown == ["head"])
            #expect(seen(call) == Self.all)
        }
    }

    @Test(arguments: ["", ", serial: true"])
    func `head and end may wait one after the other`(more: String) {
        fail("hold: [response head, response end]" + more) { call in
            let gate = call.harness.gates["a"]
            gate.release()
            call.harness.settle()
            #expect(gate.events == ["response end"])
            #expect(call.callerFrames.received.isEmpty)
            gate.release()
            call.callerReceives("head", "end aborted no")
            #expect(gate.shown == ["head", "end"])
            #expect(seen(call) == Self.all)
        }
    }

    @Test func `a head that is released before its hook has returned waits for nothing`() {
        fail("hold: [response head], open: [response head]") { call in
            call.harness.gates["a"].releaseAll()
            call.callerReceives("head", "end aborted no")
            #expect(seen(call) == Self.all)
        }
    }

    @Test func `who rejects a head has decided, at once or later`() {
        for gate in ["reject: {response head: not_found}", "hold: [response head]"] {
            fail(gate) { call in
                call.harness.gates["a"].release(nil, .reject(RPCError(.notFound, "no")))
                let detail = gate.hasPrefix("reject") ? " +google.rpc.RetryInfo" : ""
                call.callerReceives("head", "end not_found no\(detail)")
                // It is not for those before it any more, which are for another outcome.
                #expect(seen(call) == ["a response head"])
                #expect(call.harness.worker.recent.all.count == 1)
            }
        }
    }

    @Test func `who responds in index of a head has its response sent`() {
        fail("hold: [response head]") { call in
            let body = Array(#"{"a":1}"#.utf8)
            let response = LocalResponse(
                status: 200,
                headers: [(Array("content-type".utf8), Array("application/json".utf8))],
                body: body
            )
            call.harness.gates["a"].release(nil, .respond(response))
            call.callerReceives("head", #"message {"a":1}"#, "end ok")
            #expect(seen(call) == ["a response head"])
        }
    }

    @Test func `a head that is never released ends the call in its time`() {
        fail("hold: [response head]", listener: "timeouts: {suspension: 5s}") { call in
            call.harness.pass(.seconds(6))
            call.callerReceives("head", "end deadline_exceeded interceptor a exceeded timeouts.suspension")
            #expect(call.harness.gates["a"].canceled == ["response head"])
        }
    }

    @Test func `a caller that goes while a head waits ends the call`() {
        fail("hold: [response head]") { call in
            call.cancel()
            call.harness.settle()
            #expect(call.harness.livingCalls == 0)
            #expect(call.harness.gates["a"].canceled == ["response head"])
        }
    }
}
