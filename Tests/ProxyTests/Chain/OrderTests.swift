import Testing

/// The order in which the interceptors of a chain see the events of a call.
@Suite struct OrderTests {
    private static let two = "{name: a, gate: {}}, {name: b, gate: {}}"

    @Test func `R2 a call with one message each way is seen first to last, and last to first on its way back`() {
        converse(Self.two) { talk in
            talk.begin()
            talk.say("hello", end: true)
            talk.accept()
            talk.upstreamHears("head", "message hello", "end")
            talk.respond()
            talk.reply("hi")
            talk.conclude()
            talk.callerHears("head", "message hi", "end ok")
            talk.expectSilence()
            let request = ["request head", "request message 1 hello", "request end"]
            let response = ["response head", "response message 1 hi", "response end ok"]
            let finished = ["b finished ok by upstream", "a finished ok by upstream"]
            let trace = request.flatMap { ["a \($0)", "b \($0)"] } + response.flatMap { ["b \($0)", "a \($0)"] }
            #expect(talk.scene.diary.take() == trace + finished, "\(talk.style)")
        }
    }

    @Test func `R2 each message of a stream goes through the whole chain before the next`() {
        converse(Self.two, in: Style.streams) { talk in
            talk.begin()
            talk.accept()
            talk.upstreamHears("head")
            talk.say("one", "two")
            talk.upstreamHears("message one", "message two")
            talk.respond()
            talk.reply("1", "2")
            talk.callerHears("head", "message 1", "message 2")
            talk.hangUp()
            talk.upstreamHears("end")
            talk.conclude()
            talk.callerHears("end ok")
            let request = ["request head", "request message 1 one", "request message 2 two"]
            let response = ["response head", "response message 1 1", "response message 2 2"]
            let finished = ["b finished ok by upstream", "a finished ok by upstream"]
            let ends = ["a request end", "b request end", "b response end ok", "a response end ok"]
            let trace = request.flatMap { ["a \($0)", "b \($0)"] } + response.flatMap { ["b \($0)", "a \($0)"] }
            #expect(talk.scene.diary.take() == trace + ends + finished, "\(talk.style)")
        }
    }
}
