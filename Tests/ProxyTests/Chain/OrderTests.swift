import Testing

/// The order in which the interceptors of a chain see the events of a call.
@Suite struct OrderTests {
    private static let two = "{name: a, gate: {}}, {name: b, gate: {}}"

    @Test func `a call with one message each way is seen first to last, and last to first on its way back`() {
        runCall(Self.two) { call in
            call.begin()
            call.say("hello", end: true)
            call.accept()
            call.upstreamReceives("head", "message hello", "end")
            call.respond()
            call.reply("hi")
            call.conclude()
            call.callerReceives("head", "message hi", "end ok")
            call.expectSilence()
            let request = ["request head", "request message 1 hello", "request end"]
            let response = ["response head", "response message 1 hi", "response end ok"]
            let finished = ["b finished ok by upstream", "a finished ok by upstream"]
            let trace = request.flatMap { ["a \($0)", "b \($0)"] } + response.flatMap { ["b \($0)", "a \($0)"] }
            #expect(call.harness.eventLog.drain() == trace + finished, "\(call.style)")
        }
    }

    @Test func `each message of a stream goes through the whole chain before the next`() {
        runCall(Self.two, in: Style.streams) { call in
            call.begin()
            call.accept()
            call.upstreamReceives("head")
            call.say("one", "two")
            call.upstreamReceives("message one", "message two")
            call.respond()
            call.reply("1", "2")
            call.callerReceives("head", "message 1", "message 2")
            call.hangUp()
            call.upstreamReceives("end")
            call.conclude()
            call.callerReceives("end ok")
            let request = ["request head", "request message 1 one", "request message 2 two"]
            let response = ["response head", "response message 1 1", "response message 2 2"]
            let finished = ["b finished ok by upstream", "a finished ok by upstream"]
            let ends = ["a request end", "b request end", "b response end ok", "a response end ok"]
            let trace = request.flatMap { ["a \($0)", "b \($0)"] } + response.flatMap { ["b \($0)", "a \($0)"] }
            #expect(call.harness.eventLog.drain() == trace + ends + finished, "\(call.style)")
        }
    }
}
