import HTTP2Kit
import Protocols
import RPC
import Testing

@testable import Proxy

/// The heads of responses that wait for the outcome, and interceptors that make them wait longer, or decide.
@Suite struct LateHeadTests {
    private static func chain(_ gate: String) -> String {
        "{name: z, when: {code: aborted}, applies: unary, gate: {sees: [response head, response end]}}, "
            + "{name: a, when: {code: aborted}, applies: unary, gate: {sees: [response head, response end], \(gate)}}"
    }

    /// Plays a call that fails upstream as `a` is for, until `a` has been shown the head.
    private func fail(_ gate: String, listener: String = "", _ script: (Conversation) -> Void) {
        converse(Self.chain(gate), in: [.connectUnary], listener: listener) { talk in
            talk.begin()
            talk.say("{}", end: true)
            talk.accept()
            talk.fail("aborted", "no", 10, status: 409)
            talk.scene.settle()
            script(talk)
        }
    }

    /// What the interceptors have seen, but for the end of the call.
    private func seen(_ talk: Conversation) -> [String] {
        talk.scene.settle()
        return talk.scene.diary.take().filter { !$0.contains("finished") }
    }

    private static let all = ["a response head", "a response end aborted", "z response head", "z response end aborted"]

    @Test func `an end waits for the head before it, and comes to the same interceptor then`() {
        fail("hold: [response head]") { talk in
            let door = talk.scene.gates["a"]
            #expect(door.events == ["response head"])
            #expect(talk.callerEar.heard.isEmpty)
            door.release()
            talk.callerHears("head", "end aborted no")
            #expect(door.shown == ["head"])
            #expect(seen(talk) == Self.all)
        }
    }

    @Test(arguments: ["", ", serial: true"])
    func `head and end may wait one after the other`(more: String) {
        fail("hold: [response head, response end]" + more) { talk in
            let door = talk.scene.gates["a"]
            door.release()
            talk.scene.settle()
            #expect(door.events == ["response end"])
            #expect(talk.callerEar.heard.isEmpty)
            door.release()
            talk.callerHears("head", "end aborted no")
            #expect(door.shown == ["head", "end"])
            #expect(seen(talk) == Self.all)
        }
    }

    @Test func `a head that is released before its hook has returned waits for nothing`() {
        fail("hold: [response head], open: [response head]") { talk in
            talk.scene.gates["a"].releaseAll()
            talk.callerHears("head", "end aborted no")
            #expect(seen(talk) == Self.all)
        }
    }

    @Test func `who rejects a head has decided, at once or later`() {
        for gate in ["reject: {response head: not_found}", "hold: [response head]"] {
            fail(gate) { talk in
                talk.scene.gates["a"].release(nil, .reject(RPCError(.notFound, "no")))
                let detail = gate.hasPrefix("reject") ? " +google.rpc.RetryInfo" : ""
                talk.callerHears("head", "end not_found no\(detail)")
                // It is not for those before it any more, which are for another outcome.
                #expect(seen(talk) == ["a response head"])
                #expect(talk.scene.worker.recent.all.count == 1)
            }
        }
    }

    @Test func `who responds in place of a head has its response sent`() {
        fail("hold: [response head]") { talk in
            let body = Array(#"{"a":1}"#.utf8)
            let response = LocalResponse(
                status: 200,
                headers: [(Array("content-type".utf8), Array("application/json".utf8))],
                body: body
            )
            talk.scene.gates["a"].release(nil, .respond(response))
            talk.callerHears("head", #"message {"a":1}"#, "end ok")
            #expect(seen(talk) == ["a response head"])
        }
    }

    @Test func `a head that is never released ends the call in its time`() {
        fail("hold: [response head]", listener: "timeouts: {suspension: 5s}") { talk in
            talk.scene.pass(.seconds(6))
            talk.callerHears("head", "end deadline_exceeded interceptor a took longer than timeouts.suspension")
            #expect(talk.scene.gates["a"].canceled == ["response head"])
        }
    }

    @Test func `a caller that goes while a head waits ends the call`() {
        fail("hold: [response head]") { talk in
            talk.cancel()
            talk.scene.settle()
            #expect(talk.scene.livingCalls == 0)
            #expect(talk.scene.gates["a"].canceled == ["response head"])
        }
    }
}
