import Testing

/// Rejections and ends that interceptors put in the place of others.
@Suite struct RejectionTests {
    private static let detail = "+google.rpc.RetryInfo"

    @Test func `a rejected head of a request ends the call before there is an upstream`() {
        let chain =
            "{name: a, gate: {}}, {name: b, gate: {reject: {request head: permission_denied}}}, {name: c, gate: {}}"
        runCall(chain) { call in
            call.begin()
            call.callerReceives("head", "end permission_denied no \(Self.detail)")
            #expect(call.harness.upstream().connects == 0)
            let ends = ["b", "a"].map { #"\#($0) finished permission_denied by interceptor("b")"# }
            #expect(call.harness.eventLog.drain() == ["a request head", "b request head"] + ends)
        }
    }

    @Test func `a rejected message of a bare request ends the call before there is an upstream`() {
        runCall("{name: a, gate: {reject: {request message 1: aborted}}}", in: [.connectUnary]) { call in
            call.begin()
            call.say("hello", end: true)
            call.callerReceives("head", "end aborted no \(Self.detail)")
            #expect(call.callerFrames.head[":status"] == "409")
            #expect(call.harness.upstream().connects == 0)
        }
    }

    @Test func `a rejected message of a stream ends it, and those before see no response`() {
        let chain = "{name: a, gate: {}}, {name: b, gate: {reject: {request message 2: aborted}}}"
        runCall(chain, in: Style.streams) { call in
            call.begin()
            call.say("1")
            call.accept()
            call.upstreamReceives("head", "message 1")
            _ = call.harness.eventLog.drain()
            call.say("2", "3")
            call.callerReceives("head", "end aborted no \(Self.detail)")
            call.upstreamReceives("reset CANCEL")
            let ends = ["b", "a"].map { #"\#($0) finished aborted by interceptor("b")"# }
            #expect(call.harness.eventLog.drain() == ["a request message 2 2", "b request message 2 2"] + ends)
        }
    }

    @Test func `a message that is rejected when the response has begun ends that in the form of the protocol`() {
        runCall("{name: b, gate: {reject: {request message 2: aborted}}}", in: Style.streams) { call in
            call.begin()
            call.say("1")
            call.accept()
            call.respond()
            call.reply("x")
            call.callerReceives("head", "message x")
            call.say("2")
            call.callerReceives("end aborted no \(Self.detail)")
            call.upstreamReceives("head", "message 1", "reset CANCEL")
        }
    }

    @Test func `a rejected end of a request ends the call`() {
        runCall("{name: b, gate: {sees: [request end], reject: {request end: aborted}}}") { call in
            call.begin()
            call.say("1", end: true)
            call.accept()
            call.callerReceives("head", "end aborted no \(Self.detail)")
        }
    }

    @Test func `a rejected head of a response is reported as an error, and those before see one`() {
        let chain = "{name: a, gate: {}}, {name: b, gate: {reject: {response head: not_found}}}, {name: c, gate: {}}"
        runCall(chain) { call in
            call.begin()
            call.say("hello", end: true)
            call.accept()
            call.upstreamReceives("head", "message hello", "end")
            _ = call.harness.eventLog.drain()
            call.respond()
            call.callerReceives("head", "end not_found no \(Self.detail)")
            call.upstreamReceives("reset CANCEL")
            let seen = ["c response head", "b response head", "a response head", "a response end not_found"]
            let ends = ["c", "b", "a"].map { #"\#($0) finished not_found by interceptor("b")"# }
            #expect(call.harness.eventLog.drain() == seen + ends, "\(call.style)")
        }
    }

    @Test func `a rejected message ends the stream, and messages that went before stay`() {
        let chain = "{name: a, gate: {}}, {name: b, gate: {reject: {response message 2: data_loss}}}"
        runCall(chain, in: Style.streams) { call in
            call.begin(end: true)
            call.accept()
            call.respond()
            call.reply("1", "2", "3")
            call.callerReceives("head", "message 1", "end data_loss no \(Self.detail)")
            call.upstreamReceives("head", "end", "reset CANCEL")
            let seen = call.harness.eventLog.drain().filter { $0.hasPrefix("a response") || $0.hasPrefix("b response") }
            let first = ["b response head", "a response head", "b response message 1 1", "a response message 1 1"]
            #expect(seen == first + ["b response message 2 2", "a response end data_loss"])
        }
    }

    @Test func `a rejected bare message gets the status of its error`() {
        runCall("{name: b, gate: {reject: {response message 1: not_found}}}", in: [.connectUnary]) { call in
            call.begin()
            call.say("hello", end: true)
            call.accept()
            call.respond()
            call.reply("hi")
            call.conclude()
            call.callerReceives("head", "end not_found no \(Self.detail)")
            #expect(call.callerFrames.head[":status"] == "404")
            #expect(call.callerFrames.head["content-type"] == "application/json")
        }
    }

    @Test func `a rejected end is the end`() {
        runCall("{name: b, gate: {reject: {response end: internal}}}") { call in
            call.begin()
            call.say("hello", end: true)
            call.accept()
            call.respond()
            call.reply("hi")
            call.conclude()
            let before = call.style == .connectUnary ? ["head"] : ["head", "message hi"]
            call.callerReceives(all: before + ["end internal no \(Self.detail)"])
            let last = call.harness.eventLog.drain().last
            #expect(last == #"b finished internal by interceptor("b")"#)
        }
    }

    @Test func `an error is replaced with another, in every protocol`() {
        runCall("{name: b, gate: {sees: [response end], end: resource_exhausted}}") { call in
            call.begin()
            call.say("hello", end: true)
            call.accept()
            if call.style != .connectUnary { call.respond() }
            call.fail("unavailable", "later", 14)
            call.callerReceives("head", "end resource_exhausted changed \(Self.detail)")
            if call.style == .connectUnary { #expect(call.callerFrames.head[":status"] == "429") }
        }
    }

    @Test func `the error of a head without a body is replaced`() {
        runCall("{name: b, gate: {sees: [response end], end: resource_exhausted}}", in: [.grpc]) { call in
            call.begin()
            call.say("hello", end: true)
            call.accept()
            call.respondOnly(("grpc-status", "14"), ("grpc-message", "later"))
            call.callerReceives("head", "end resource_exhausted changed \(Self.detail)")
            #expect(call.callerFrames.head["content-length"] == nil)
            #expect(call.callerFrames.head["grpc-status"] == "8")
        }
    }

    @Test func `an error that nobody changes passes as it is, details and all`() {
        runCall("{name: b, gate: {}}", in: [.grpc]) { call in
            call.begin()
            call.say("hello", end: true)
            call.accept()
            let details = ("grpc-status-details-bin", "CAUSAm5v")
            call.respondOnly(("grpc-status", "5"), ("grpc-message", "no"), details)
            call.callerReceives("head", "end not_found no")
            #expect(call.callerFrames.head["grpc-status-details-bin"] == details.1)
        }
    }

    @Test func `a success becomes an error behind the messages that have gone out`() {
        runCall("{name: b, gate: {sees: [response end], end: out_of_range}}") { call in
            call.begin()
            call.say("hello", end: true)
            call.accept()
            call.respond()
            call.reply("hi")
            call.conclude()
            let before = call.style == .connectUnary ? ["head"] : ["head", "message hi"]
            call.callerReceives(all: before + ["end out_of_range changed \(Self.detail)"])
        }
    }

    @Test func `a trailer is added in the form of each protocol`() {
        runCall("{name: b, gate: {sees: [response end], trailer: '5'}}") { call in
            call.begin()
            call.say("hello", end: true)
            call.accept()
            call.respond()
            call.reply("hi")
            call.conclude(["x-theirs": "1"])
            call.callerReceives("head", "message hi", "end ok")
            #expect(call.callerFrames.trailers["x-cost"] == "5", "\(call.style)")
            if call.style != .connectUnary { #expect(call.callerFrames.trailers["x-theirs"] == "1", "\(call.style)") }
        }
    }

    @Test func `a trailer is added to an error, which stays`() {
        runCall("{name: b, gate: {sees: [response end], trailer: '5'}}") { call in
            call.begin()
            call.say("hello", end: true)
            call.accept()
            if call.style != .connectUnary { call.respond() }
            call.fail("unavailable", "later", 14)
            call.callerReceives("head", "end unavailable later")
            #expect(call.callerFrames.trailers["x-cost"] == "5", "\(call.style)")
        }
    }
}
