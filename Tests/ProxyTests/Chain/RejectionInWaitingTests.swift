import Proxy
import RPC
import Testing

/// Rejections while other events of the call wait in the chain.
@Suite struct RejectionInWaitingTests {
    private let no = RPCError(.notFound, "no")

    @Test func `what waits behind an event that is rejected on release goes nowhere`() {
        let chain = "{name: a, gate: {hold: [response end]}}, {name: b, gate: {hold: [response message 1]}}"
        runCall(chain, in: Style.streams) { call in
            call.begin(end: true)
            call.accept()
            call.respond()
            call.reply("1", "2")
            call.conclude()
            call.callerReceives("head")
            _ = call.harness.eventLog.drain()
            call.harness.gates["b"].release(nil, .reject(no))
            call.callerReceives()
            #expect(call.harness.eventLog.drain() == ["a response end not_found"])
            call.harness.gates["a"].release()
            call.callerReceives("end not_found no")
            #expect(call.harness.eventLog.drain().count == 2)
        }
    }

    @Test func `what waits further from the caller when a message is rejected is cancelled`() {
        let chain =
            "{name: a, gate: {hold: [response end]}}, {name: b, gate: {}}, {name: c, gate: {hold: [response message]}}"
        runCall(chain, in: Style.streams) { call in
            call.begin(end: true)
            call.accept()
            call.respond()
            call.callerReceives("head")
            call.reply("1")
            call.reply("2")
            call.harness.settle()
            let gate = call.harness.gates["c"]
            #expect(gate.events == ["response message 1", "response message 2"])
            gate.release(nil, .reject(no))
            #expect(gate.canceled == ["response message 2"])
            #expect(gate.events == [])
            call.harness.gates["a"].release()
            call.callerReceives("end not_found no")
        }
    }

    @Test func `the rest of a request whose response was ended is thrown away`() {
        let chain =
            "{name: a, gate: {hold: [request message 2, response end]}}, {name: b, gate: {reject: {response message 1: aborted}}}"
        runCall(chain, in: Style.streams) { call in
            call.begin()
            call.accept()
            call.say("1", "2")
            call.respond()
            call.reply("x")
            call.callerReceives("head")
            _ = call.harness.eventLog.drain()
            #expect(call.harness.gates["a"].canceled == ["request message 2"])
            call.say("3", "4", end: true)
            call.harness.settle()
            #expect(call.harness.eventLog.drain() == [])
            call.harness.gates["a"].release()
            call.callerReceives("end aborted no +google.rpc.RetryInfo")
        }
    }

    @Test func `a held head that is rejected on release takes the response with it`() {
        let chain = "{name: a, gate: {hold: [response end]}}, {name: b, gate: {hold: [response head]}}"
        runCall(chain) { call in
            call.begin()
            call.say("hello", end: true)
            call.accept()
            call.respond()
            call.reply("1")
            call.conclude()
            call.callerReceives()
            _ = call.harness.eventLog.drain()
            call.harness.gates["b"].release(nil, .reject(no))
            call.harness.settle()
            #expect(call.harness.eventLog.drain() == ["a response head", "a response end not_found"], "\(call.style)")
            call.harness.gates["a"].release()
            call.callerReceives("head", "end not_found no")
        }
    }

    @Test func `a response that is nothing but a head can be rejected while its end waits`() {
        let chain = "{name: a, gate: {hold: [response end]}}, {name: b, gate: {reject: {response head: not_found}}}"
        runCall(chain, in: [.grpc]) { call in
            call.begin(end: true)
            call.accept()
            _ = call.harness.eventLog.drain()
            call.respondOnly(("grpc-status", "0"))
            call.harness.settle()
            #expect(
                call.harness.eventLog.drain() == ["b response head", "a response head", "a response end not_found"]
            )
            call.harness.gates["a"].release()
            call.callerReceives("head", "end not_found no +google.rpc.RetryInfo")
        }
    }

    @Test func `a hook that lets the head be rejected sees nothing more of that response`() {
        let chain = """
            {name: a, gate: {hold: [response end]}}, \
            {name: b, gate: {hold: [response head], open: [response message 1], verdict: not_found}}
            """
        runCall(chain, in: Style.streams) { call in
            call.begin(end: true)
            call.accept()
            call.respond()
            call.harness.settle()
            _ = call.harness.eventLog.drain()
            call.reply("1", "2", "3")
            call.harness.settle()
            let seen = ["b response message 1 1", "a response head", "a response end not_found"]
            #expect(call.harness.eventLog.drain() == seen, "\(call.style)")
            call.harness.gates["a"].release()
            call.callerReceives("head", "end not_found opened")
        }
    }

    @Test func `a held head of a request can be rejected, with messages behind it`() {
        let chain = "{name: a, gate: {hold: [request head]}}, {name: b, gate: {}}"
        runCall(chain) { call in
            call.begin()
            call.say("1", end: true)
            call.callerReceives()
            _ = call.harness.eventLog.drain()
            call.harness.gates["a"].release(nil, .reject(no))
            call.callerReceives("head", "end not_found no")
            #expect(call.harness.upstream().connects == 0)
            #expect(call.harness.eventLog.drain() == [#"a finished not_found by interceptor("a")"#])
        }
    }

    @Test func `a request that is answered while its response waits shows its end to nobody`() {
        let chain = "{name: a, gate: {hold: [response head]}}, {name: b, respond: {status: 200, body: mine}}"
        runCall(chain, in: Style.streams) { call in
            call.begin(end: true)
            call.harness.settle()
            #expect(call.harness.eventLog.drain().filter { $0.contains("request") } == ["a request head"])
            call.harness.gates["a"].release()
            call.harness.settle()
            #expect(call.callerFrames.received.first == "head")
            #expect(call.callerFrames.body == Array("mine".utf8))
        }
    }

    @Test func `a message that came before the response was decided counts for it`() {
        let chain = "{name: a, gate: {hold: [request head]}}, {name: b, respond: {json: {a: 1}}}"
        runCall(chain) { call in
            call.begin()
            call.say("{}", end: true)
            call.callerReceives()
            call.harness.gates["a"].release()
            call.callerReceives("head", #"message {"a":1}"#, "end ok")
        }
    }

    @Test func `two messages that came before the response was decided are one too many`() {
        let chain = "{name: a, gate: {hold: [request head]}}, {name: b, respond: {json: {a: 1}}}"
        runCall(chain, in: Style.streams) { call in
            call.begin()
            call.say("{}")
            call.callerReceives()
            call.harness.gates["a"].release()
            call.callerReceives()
            call.say("{}", end: true)
            call.callerReceives("head", "end unimplemented the request has 2 messages, but the method takes one")
        }
    }
}
