import Testing

/// Events that an interceptor holds: what comes behind them waits in order, and nothing else does.
@Suite struct HoldingTests {
    private func begin(_ talk: Conversation) {
        talk.begin()
        talk.say("hello", end: true)
        talk.accept()
        talk.upstreamHears("head", "message hello", "end")
    }

    @Test func `R10 nothing reaches the upstream before the release`() {
        converse("{name: a, gate: {hold: [request head]}}") { talk in
            talk.begin()
            talk.say("hello", end: true)
            talk.scene.settle()
            #expect(talk.scene.upstream().connects == 0)
            talk.callerHears()
            talk.scene.gates["a"].release()
            talk.accept()
            talk.upstreamHears("head", "message hello", "end")
            talk.expectSilence()
        }
    }

    @Test func `R10 other calls on the same connection go on`() {
        converse("{name: a, gate: {hold: [request head]}}", in: Style.streams) { talk in
            let other = Conversation(talk.scene, talk.style, of: talk.caller, stream: 3)
            talk.begin()
            talk.say("held", end: true)
            other.begin()
            other.say("free", end: true)
            talk.scene.settle()
            let gate = talk.scene.gates["a"]
            let first = gate.events
            #expect(first == ["request head", "request head"])
            gate.releaseAll(lastFirst: true)
            other.accept()
            other.upstreamHears("head", "message free", "end")
            talk.accept(on: other.upstream, stream: 3)
            talk.upstreamHears("head", "message held", "end")
        }
    }

    @Test func `R11 what comes behind a held head waits, in order`() {
        let chain =
            "{name: a, gate: {}}, {name: b, gate: {hold: [response head], sees: [response head, response message]}}"
        converse(chain, in: Style.streams) { talk in
            begin(talk)
            _ = talk.scene.diary.take()
            talk.respond()
            talk.reply("1", "2", "3")
            talk.conclude()
            talk.callerHears()
            let seen = ["head", "message 1 1", "message 2 2", "message 3 3"].map { "response \($0)" }
            #expect(talk.scene.diary.take() == seen.map { "b \($0)" })
            talk.scene.gates["b"].release()
            talk.callerHears("head", "message 1", "message 2", "message 3", "end ok")
            let after = (seen + ["response end ok"]).map { "a \($0)" }
            #expect(talk.scene.diary.take().prefix(5) == after[...])
            talk.expectSilence()
        }
    }

    @Test func `R11 messages released out of order leave in order`() {
        converse("{name: a, gate: {hold: [response message]}}", in: Style.streams) { talk in
            begin(talk)
            talk.respond()
            talk.reply("1", "2", "3")
            talk.conclude()
            talk.callerHears("head")
            let gate = talk.scene.gates["a"]
            gate.release("response message 3")
            talk.expectSilence()
            gate.release("response message 1")
            talk.callerHears("message 1")
            talk.expectSilence()
            gate.release("response message 2")
            talk.callerHears("message 2", "message 3", "end ok")
        }
    }

    @Test func `R11 two gates hold at once, and the order is that of arrival`() {
        let chain = "{name: a, gate: {hold: [response message 1]}}, {name: b, gate: {hold: [response message 2]}}"
        converse(chain, in: Style.streams) { talk in
            begin(talk)
            talk.respond()
            talk.reply("1", "2", "3")
            talk.callerHears("head")
            talk.conclude()
            talk.scene.settle()
            talk.scene.gates["b"].release()
            talk.expectSilence()
            talk.scene.gates["a"].release()
            talk.callerHears("message 1", "message 2", "message 3", "end ok")
        }
    }

    @Test func `R11 a serial interceptor sees the next event when the one before has gone on`() {
        let chain = "{name: a, gate: {}}, {name: b, gate: {hold: [response head, response message 2], serial: true}}"
        converse(chain, in: Style.streams) { talk in
            begin(talk)
            _ = talk.scene.diary.take()
            talk.respond()
            talk.reply("1", "2", "3")
            talk.conclude()
            talk.callerHears()
            #expect(talk.scene.diary.take() == ["b response head"])
            talk.scene.gates["b"].release()
            talk.callerHears("head", "message 1")
            let seen = ["b response message 1 1", "a response message 1 1", "b response message 2 2"]
            #expect(talk.scene.diary.take() == ["a response head"] + seen)
            talk.scene.gates["b"].release()
            talk.callerHears("message 2", "message 3", "end ok")
        }
    }

    @Test func `R12 messages and the end that come before the head is released follow it in order`() {
        let chain = "{name: a, gate: {hold: [request head]}}, {name: b, gate: {}}"
        converse(chain, in: Style.streams) { talk in
            talk.begin()
            talk.say("1", "2", "3", end: true)
            talk.scene.settle()
            let early = ["head", "message 1 1", "message 2 2", "message 3 3", "end"].map { "request \($0)" }
            #expect(talk.scene.diary.take() == early.map { "a \($0)" })
            talk.scene.gates["a"].release()
            talk.accept()
            talk.upstreamHears("head", "message 1", "message 2", "message 3", "end")
            #expect(talk.scene.diary.take() == early.map { "b \($0)" })
        }
    }

    @Test func `R12 the end of a request waits for a held message`() {
        converse("{name: a, gate: {hold: [request message], sees: [request message]}}") { talk in
            talk.begin()
            talk.say("1")
            talk.hangUp()
            if talk.style != .connectUnary {
                talk.accept()
                talk.upstreamHears("head")
                talk.expectSilence()
            } else {
                talk.scene.upstream().expectNobody()
            }
            talk.scene.gates["a"].release()
            if talk.style == .connectUnary {
                talk.accept()
                talk.upstreamHears("head")
            }
            talk.upstreamHears("message 1", "end")
        }
    }

    @Test func `R12 messages go on before a held end, even if all had come before the head went`() {
        converse("{name: a, gate: {hold: [request head, request end]}}", in: Style.streams) { talk in
            talk.begin()
            talk.say("1", "2", end: true)
            talk.scene.settle()
            talk.scene.gates["a"].release("request head")
            talk.accept()
            talk.upstreamHears("head", "message 1", "message 2")
            talk.expectSilence()
            talk.scene.gates["a"].release()
            talk.upstreamHears("end")
        }
    }

    @Test func `R12 a request without a body goes out in one piece when its end is released`() {
        converse("{name: a, gate: {hold: [request head, request end]}}", in: Style.streams) { talk in
            talk.begin(end: true)
            talk.scene.settle()
            talk.scene.gates["a"].release("request head")
            talk.scene.upstream().expectNobody()
            talk.scene.gates["a"].release()
            let upstream = talk.scene.upstream().acceptHTTP2(in: talk.scene)
            #expect(upstream.next().hasPrefix("1 HEADERS/end "))
        }
    }

    @Test func `R12 bytes that nobody looks at wait behind the head as well`() {
        converse("{name: a, gate: {hold: [request head], sees: [request head]}}") { talk in
            talk.begin()
            talk.say("1")
            talk.say("2", end: true)
            talk.callerHears()
            #expect(talk.scene.upstream().connects == 0)
            talk.scene.gates["a"].release()
            talk.accept()
            if talk.style == .connectUnary {
                talk.upstreamHears("head", "message 12", "end")
            } else {
                talk.upstreamHears("head", "message 1", "message 2", "end")
            }
        }
    }

    @Test func `R18 one instance sees all messages of a call, and no other call's`() {
        converse("{name: a, gate: {}}", in: Style.streams) { talk in
            let other = Conversation(talk.scene, talk.style, of: talk.caller, stream: 3)
            talk.begin()
            talk.accept()
            other.begin()
            for each in [talk, other] {
                each.say("x", "y")
                each.say("z", end: true)
            }
            talk.upstreamHears("head", "message x", "message y", "message z", "end")
            talk.scene.settle()
            let numbers = talk.scene.diary.take().filter { $0.contains("message") }
            #expect(numbers == ["1 x", "2 y", "3 z", "1 x", "2 y", "3 z"].map { "a request message \($0)" })
        }
    }
}
