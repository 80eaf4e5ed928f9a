import Testing

/// Events that an interceptor holds: what comes behind them waits in order, and nothing else does.
@Suite struct HoldingTests {
    private func begin(_ call: CallScript) {
        call.begin()
        call.say("hello", end: true)
        call.accept()
        call.upstreamReceives("head", "message hello", "end")
    }

    @Test func `nothing reaches the upstream before the release`() {
        runCall("{name: a, gate: {hold: [request head]}}") { call in
            call.begin()
            call.say("hello", end: true)
            call.harness.settle()
            #expect(call.harness.upstream().connects == 0)
            call.callerReceives()
            call.harness.gates["a"].release()
            call.accept()
            call.upstreamReceives("head", "message hello", "end")
            call.expectSilence()
        }
    }

    @Test func `other calls on the same connection go on`() {
        runCall("{name: a, gate: {hold: [request head]}}", in: Style.streams) { call in
            let other = CallScript(call.harness, call.style, of: call.caller, stream: 3)
            call.begin()
            call.say("held", end: true)
            other.begin()
            other.say("free", end: true)
            call.harness.settle()
            let gate = call.harness.gates["a"]
            let first = gate.events
            #expect(first == ["request head", "request head"])
            gate.releaseAll(lastFirst: true)
            other.accept()
            other.upstreamReceives("head", "message free", "end")
            call.accept(on: other.upstream, stream: 3)
            call.upstreamReceives("head", "message held", "end")
        }
    }

    @Test func `what comes behind a held head waits, in order`() {
        let chain =
            "{name: a, gate: {}}, {name: b, gate: {hold: [response head], sees: [response head, response message]}}"
        runCall(chain, in: Style.streams) { call in
            begin(call)
            _ = call.harness.eventLog.drain()
            call.respond()
            call.reply("1", "2", "3")
            call.conclude()
            call.callerReceives()
            let seen = ["head", "message 1 1", "message 2 2", "message 3 3"].map { "response \($0)" }
            #expect(call.harness.eventLog.drain() == seen.map { "b \($0)" })
            call.harness.gates["b"].release()
            call.callerReceives("head", "message 1", "message 2", "message 3", "end ok")
            let after = (seen + ["response end ok"]).map { "a \($0)" }
            #expect(call.harness.eventLog.drain().prefix(5) == after[...])
            call.expectSilence()
        }
    }

    @Test func `messages released out of order leave in order`() {
        runCall("{name: a, gate: {hold: [response message]}}", in: Style.streams) { call in
            begin(call)
            call.respond()
            call.reply("1", "2", "3")
            call.conclude()
            call.callerReceives("head")
            let gate = call.harness.gates["a"]
            gate.release("response message 3")
            call.expectSilence()
            gate.release("response message 1")
            call.callerReceives("message 1")
            call.expectSilence()
            gate.release("response message 2")
            call.callerReceives("message 2", "message 3", "end ok")
        }
    }

    @Test func `two gates hold at once, and the order is that of arrival`() {
        let chain = "{name: a, gate: {hold: [response message 1]}}, {name: b, gate: {hold: [response message 2]}}"
        runCall(chain, in: Style.streams) { call in
            begin(call)
            call.respond()
            call.reply("1", "2", "3")
            call.callerReceives("head")
            call.conclude()
            call.harness.settle()
            call.harness.gates["b"].release()
            call.expectSilence()
            call.harness.gates["a"].release()
            call.callerReceives("message 1", "message 2", "message 3", "end ok")
        }
    }

    @Test func `a serial interceptor sees the next event when the one before has gone on`() {
        let chain = "{name: a, gate: {}}, {name: b, gate: {hold: [response head, response message 2], serial: true}}"
        runCall(chain, in: Style.streams) { call in
            begin(call)
            _ = call.harness.eventLog.drain()
            call.respond()
            call.reply("1", "2", "3")
            call.conclude()
            call.callerReceives()
            #expect(call.harness.eventLog.drain() == ["b response head"])
            call.harness.gates["b"].release()
            call.callerReceives("head", "message 1")
            let seen = ["b response message 1 1", "a response message 1 1", "b response message 2 2"]
            #expect(call.harness.eventLog.drain() == ["a response head"] + seen)
            call.harness.gates["b"].release()
            call.callerReceives("message 2", "message 3", "end ok")
        }
    }

    @Test func `messages and the end that come before the head is released follow it in order`() {
        let chain = "{name: a, gate: {hold: [request head]}}, {name: b, gate: {}}"
        runCall(chain, in: Style.streams) { call in
            call.begin()
            call.say("1", "2", "3", end: true)
            call.harness.settle()
            let early = ["head", "message 1 1", "message 2 2", "message 3 3", "end"].map { "request \($0)" }
            #expect(call.harness.eventLog.drain() == early.map { "a \($0)" })
            call.harness.gates["a"].release()
            call.accept()
            call.upstreamReceives("head", "message 1", "message 2", "message 3", "end")
            #expect(call.harness.eventLog.drain() == early.map { "b \($0)" })
        }
    }

    @Test func `the end of a request waits for a held message`() {
        runCall("{name: a, gate: {hold: [request message], sees: [request message]}}") { call in
            call.begin()
            call.say("1")
            call.hangUp()
            if call.style != .connectUnary {
                call.accept()
                call.upstreamReceives("head")
                call.expectSilence()
            } else {
                call.harness.upstream().expectNobody()
            }
            call.harness.gates["a"].release()
            if call.style == .connectUnary {
                call.accept()
                call.upstreamReceives("head")
            }
            call.upstreamReceives("message 1", "end")
        }
    }

    @Test func `messages go on before a held end, even if all had come before the head went`() {
        runCall("{name: a, gate: {hold: [request head, request end]}}", in: Style.streams) { call in
            call.begin()
            call.say("1", "2", end: true)
            call.harness.settle()
            call.harness.gates["a"].release("request head")
            call.accept()
            call.upstreamReceives("head", "message 1", "message 2")
            call.expectSilence()
            call.harness.gates["a"].release()
            call.upstreamReceives("end")
        }
    }

    @Test func `a request without a body goes out in one piece when its end is released`() {
        runCall("{name: a, gate: {hold: [request head, request end]}}", in: Style.streams) { call in
            call.begin(end: true)
            call.harness.settle()
            call.harness.gates["a"].release("request head")
            call.harness.upstream().expectNobody()
            call.harness.gates["a"].release()
            let upstream = call.harness.upstream().acceptHTTP2(in: call.harness)
            #expect(upstream.next().hasPrefix("1 HEADERS/end "))
        }
    }

    @Test func `bytes that nobody looks at wait behind the head as well`() {
        runCall("{name: a, gate: {hold: [request head], sees: [request head]}}") { call in
            call.begin()
            call.say("1")
            call.say("2", end: true)
            call.callerReceives()
            #expect(call.harness.upstream().connects == 0)
            call.harness.gates["a"].release()
            call.accept()
            if call.style == .connectUnary {
                call.upstreamReceives("head", "message 12", "end")
            } else {
                call.upstreamReceives("head", "message 1", "message 2", "end")
            }
        }
    }

    @Test func `one instance sees all messages of a call, and no other call's`() {
        runCall("{name: a, gate: {}}", in: Style.streams) { call in
            let other = CallScript(call.harness, call.style, of: call.caller, stream: 3)
            call.begin()
            call.accept()
            other.begin()
            for each in [call, other] {
                each.say("x", "y")
                each.say("z", end: true)
            }
            call.upstreamReceives("head", "message x", "message y", "message z", "end")
            call.harness.settle()
            let numbers = call.harness.eventLog.drain().filter { $0.contains("message") }
            #expect(numbers == ["1 x", "2 y", "3 z", "1 x", "2 y", "3 z"].map { "a request message \($0)" })
        }
    }
}
