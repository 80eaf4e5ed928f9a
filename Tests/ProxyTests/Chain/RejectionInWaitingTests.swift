import Proxy
import RPC
import Testing

/// Rejections while other events of the call wait in the chain.
@Suite struct RejectionInWaitingTests {
    private let no = RPCError(.notFound, "no")

    @Test func `E7 what waits behind an event that is rejected on release goes nowhere`() {
        let chain = "{name: a, gate: {hold: [response end]}}, {name: b, gate: {hold: [response message 1]}}"
        converse(chain, in: Style.streams) { talk in
            talk.begin(end: true)
            talk.accept()
            talk.respond()
            talk.reply("1", "2")
            talk.conclude()
            talk.callerHears("head")
            _ = talk.scene.diary.take()
            talk.scene.gates["b"].release(nil, .reject(no))
            talk.callerHears()
            #expect(talk.scene.diary.take() == ["a response end not_found"])
            talk.scene.gates["a"].release()
            talk.callerHears("end not_found no")
            #expect(talk.scene.diary.take().count == 2)
        }
    }

    @Test func `E7 what waits further from the caller when a message is rejected is cancelled`() {
        let chain =
            "{name: a, gate: {hold: [response end]}}, {name: b, gate: {}}, {name: c, gate: {hold: [response message]}}"
        converse(chain, in: Style.streams) { talk in
            talk.begin(end: true)
            talk.accept()
            talk.respond()
            talk.callerHears("head")
            talk.reply("1")
            talk.reply("2")
            talk.scene.settle()
            let gate = talk.scene.gates["c"]
            #expect(gate.events == ["response message 1", "response message 2"])
            gate.release(nil, .reject(no))
            #expect(gate.canceled == ["response message 2"])
            #expect(gate.events == [])
            talk.scene.gates["a"].release()
            talk.callerHears("end not_found no")
        }
    }

    @Test func `E7 the rest of a request whose response was ended is thrown away`() {
        let chain =
            "{name: a, gate: {hold: [request message 2, response end]}}, {name: b, gate: {reject: {response message 1: aborted}}}"
        converse(chain, in: Style.streams) { talk in
            talk.begin()
            talk.accept()
            talk.say("1", "2")
            talk.respond()
            talk.reply("x")
            talk.callerHears("head")
            _ = talk.scene.diary.take()
            #expect(talk.scene.gates["a"].canceled == ["request message 2"])
            talk.say("3", "4", end: true)
            talk.scene.settle()
            #expect(talk.scene.diary.take() == [])
            talk.scene.gates["a"].release()
            talk.callerHears("end aborted no +google.rpc.RetryInfo")
        }
    }

    @Test func `E7 a held head that is rejected on release takes the response with it`() {
        let chain = "{name: a, gate: {hold: [response end]}}, {name: b, gate: {hold: [response head]}}"
        converse(chain) { talk in
            talk.begin()
            talk.say("hello", end: true)
            talk.accept()
            talk.respond()
            talk.reply("1")
            talk.conclude()
            talk.callerHears()
            _ = talk.scene.diary.take()
            talk.scene.gates["b"].release(nil, .reject(no))
            talk.scene.settle()
            #expect(talk.scene.diary.take() == ["a response head", "a response end not_found"], "\(talk.style)")
            talk.scene.gates["a"].release()
            talk.callerHears("head", "end not_found no")
        }
    }

    @Test func `E7 a response that is nothing but a head can be rejected while its end waits`() {
        let chain = "{name: a, gate: {hold: [response end]}}, {name: b, gate: {reject: {response head: not_found}}}"
        converse(chain, in: [.grpc]) { talk in
            talk.begin(end: true)
            talk.accept()
            _ = talk.scene.diary.take()
            talk.respondOnly(("grpc-status", "0"))
            talk.scene.settle()
            #expect(talk.scene.diary.take() == ["b response head", "a response head", "a response end not_found"])
            talk.scene.gates["a"].release()
            talk.callerHears("head", "end not_found no +google.rpc.RetryInfo")
        }
    }

    @Test func `E7 a hook that lets the head be rejected sees nothing more of that response`() {
        let chain = """
            {name: a, gate: {hold: [response end]}}, \
            {name: b, gate: {hold: [response head], open: [response message 1], verdict: not_found}}
            """
        converse(chain, in: Style.streams) { talk in
            talk.begin(end: true)
            talk.accept()
            talk.respond()
            talk.scene.settle()
            _ = talk.scene.diary.take()
            talk.reply("1", "2", "3")
            talk.scene.settle()
            let seen = ["b response message 1 1", "a response head", "a response end not_found"]
            #expect(talk.scene.diary.take() == seen, "\(talk.style)")
            talk.scene.gates["a"].release()
            talk.callerHears("head", "end not_found opened")
        }
    }

    @Test func `E6 a held head of a request can be rejected, with messages behind it`() {
        let chain = "{name: a, gate: {hold: [request head]}}, {name: b, gate: {}}"
        converse(chain) { talk in
            talk.begin()
            talk.say("1", end: true)
            talk.callerHears()
            _ = talk.scene.diary.take()
            talk.scene.gates["a"].release(nil, .reject(no))
            talk.callerHears("head", "end not_found no")
            #expect(talk.scene.upstream().connects == 0)
            #expect(talk.scene.diary.take() == [#"a finished not_found by interceptor("a")"#])
        }
    }

    @Test func `E6 a request that is answered while its response waits shows its end to nobody`() {
        let chain = "{name: a, gate: {hold: [response head]}}, {name: b, respond: {status: 200, body: mine}}"
        converse(chain, in: Style.streams) { talk in
            talk.begin(end: true)
            talk.scene.settle()
            #expect(talk.scene.diary.take().filter { $0.contains("request") } == ["a request head"])
            talk.scene.gates["a"].release()
            talk.scene.settle()
            #expect(talk.callerEar.heard.first == "head")
            #expect(talk.callerEar.body == Array("mine".utf8))
        }
    }

    @Test func `R12 a message that came before the response was decided counts for it`() {
        let chain = "{name: a, gate: {hold: [request head]}}, {name: b, respond: {json: {a: 1}}}"
        converse(chain) { talk in
            talk.begin()
            talk.say("{}", end: true)
            talk.callerHears()
            talk.scene.gates["a"].release()
            talk.callerHears("head", #"message {"a":1}"#, "end ok")
        }
    }

    @Test func `R12 two messages that came before the response was decided are one too many`() {
        let chain = "{name: a, gate: {hold: [request head]}}, {name: b, respond: {json: {a: 1}}}"
        converse(chain, in: Style.streams) { talk in
            talk.begin()
            talk.say("{}")
            talk.callerHears()
            talk.scene.gates["a"].release()
            talk.callerHears()
            talk.say("{}", end: true)
            talk.callerHears("head", "end unimplemented the request has 2 messages; this method takes one")
        }
    }
}
