import Testing

/// Rejections and ends that interceptors put in the place of others.
@Suite struct RejectionTests {
    private static let detail = "+google.rpc.RetryInfo"

    @Test func `R13 a rejected head of a request ends the call before there is an upstream`() {
        let chain =
            "{name: a, gate: {}}, {name: b, gate: {reject: {request head: permission_denied}}}, {name: c, gate: {}}"
        converse(chain) { talk in
            talk.begin()
            talk.callerHears("head", "end permission_denied no \(Self.detail)")
            #expect(talk.scene.upstream().connects == 0)
            let ends = ["b", "a"].map { #"\#($0) finished permission_denied by interceptor("b")"# }
            #expect(talk.scene.diary.take() == ["a request head", "b request head"] + ends)
        }
    }

    @Test func `R13 a rejected message of a bare request ends the call before there is an upstream`() {
        converse("{name: a, gate: {reject: {request message 1: aborted}}}", in: [.connectUnary]) { talk in
            talk.begin()
            talk.say("hello", end: true)
            talk.callerHears("head", "end aborted no \(Self.detail)")
            #expect(talk.callerEar.head[":status"] == "409")
            #expect(talk.scene.upstream().connects == 0)
        }
    }

    @Test func `E6 a rejected message of a stream ends it, and those before see no response`() {
        let chain = "{name: a, gate: {}}, {name: b, gate: {reject: {request message 2: aborted}}}"
        converse(chain, in: Style.streams) { talk in
            talk.begin()
            talk.say("1")
            talk.accept()
            talk.upstreamHears("head", "message 1")
            _ = talk.scene.diary.take()
            talk.say("2", "3")
            talk.callerHears("head", "end aborted no \(Self.detail)")
            talk.upstreamHears("reset CANCEL")
            let ends = ["b", "a"].map { #"\#($0) finished aborted by interceptor("b")"# }
            #expect(talk.scene.diary.take() == ["a request message 2 2", "b request message 2 2"] + ends)
        }
    }

    @Test func `E6 a message that is rejected when the response has begun ends that in the form of the protocol`() {
        converse("{name: b, gate: {reject: {request message 2: aborted}}}", in: Style.streams) { talk in
            talk.begin()
            talk.say("1")
            talk.accept()
            talk.respond()
            talk.reply("x")
            talk.callerHears("head", "message x")
            talk.say("2")
            talk.callerHears("end aborted no \(Self.detail)")
            talk.upstreamHears("head", "message 1", "reset CANCEL")
        }
    }

    @Test func `E6 a rejected end of a request ends the call`() {
        converse("{name: b, gate: {sees: [request end], reject: {request end: aborted}}}") { talk in
            talk.begin()
            talk.say("1", end: true)
            talk.accept()
            talk.callerHears("head", "end aborted no \(Self.detail)")
        }
    }

    @Test func `E7 a rejected head of a response is told as an error, and those before see one`() {
        let chain = "{name: a, gate: {}}, {name: b, gate: {reject: {response head: not_found}}}, {name: c, gate: {}}"
        converse(chain) { talk in
            talk.begin()
            talk.say("hello", end: true)
            talk.accept()
            talk.upstreamHears("head", "message hello", "end")
            _ = talk.scene.diary.take()
            talk.respond()
            talk.callerHears("head", "end not_found no \(Self.detail)")
            talk.upstreamHears("reset CANCEL")
            let seen = ["c response head", "b response head", "a response head", "a response end not_found"]
            let ends = ["c", "b", "a"].map { #"\#($0) finished not_found by interceptor("b")"# }
            #expect(talk.scene.diary.take() == seen + ends, "\(talk.style)")
        }
    }

    @Test func `E7 a rejected message ends the stream, and messages that went before stay`() {
        let chain = "{name: a, gate: {}}, {name: b, gate: {reject: {response message 2: data_loss}}}"
        converse(chain, in: Style.streams) { talk in
            talk.begin(end: true)
            talk.accept()
            talk.respond()
            talk.reply("1", "2", "3")
            talk.callerHears("head", "message 1", "end data_loss no \(Self.detail)")
            talk.upstreamHears("head", "end", "reset CANCEL")
            let seen = talk.scene.diary.take().filter { $0.hasPrefix("a response") || $0.hasPrefix("b response") }
            let first = ["b response head", "a response head", "b response message 1 1", "a response message 1 1"]
            #expect(seen == first + ["b response message 2 2", "a response end data_loss"])
        }
    }

    @Test func `E7 a rejected bare message gets the status of its error`() {
        converse("{name: b, gate: {reject: {response message 1: not_found}}}", in: [.connectUnary]) { talk in
            talk.begin()
            talk.say("hello", end: true)
            talk.accept()
            talk.respond()
            talk.reply("hi")
            talk.conclude()
            talk.callerHears("head", "end not_found no \(Self.detail)")
            #expect(talk.callerEar.head[":status"] == "404")
            #expect(talk.callerEar.head["content-type"] == "application/json")
        }
    }

    @Test func `E7 a rejected end is the end`() {
        converse("{name: b, gate: {reject: {response end: internal}}}") { talk in
            talk.begin()
            talk.say("hello", end: true)
            talk.accept()
            talk.respond()
            talk.reply("hi")
            talk.conclude()
            let before = talk.style == .connectUnary ? ["head"] : ["head", "message hi"]
            talk.callerHears(all: before + ["end internal no \(Self.detail)"])
            let last = talk.scene.diary.take().last
            #expect(last == #"b finished internal by interceptor("b")"#)
        }
    }

    @Test func `R8 an error is replaced with another, in every protocol`() {
        converse("{name: b, gate: {sees: [response end], end: resource_exhausted}}") { talk in
            talk.begin()
            talk.say("hello", end: true)
            talk.accept()
            if talk.style != .connectUnary { talk.respond() }
            talk.fail("unavailable", "later", 14)
            talk.callerHears("head", "end resource_exhausted changed \(Self.detail)")
            if talk.style == .connectUnary { #expect(talk.callerEar.head[":status"] == "429") }
        }
    }

    @Test func `R8 the error of a head without a body is replaced`() {
        converse("{name: b, gate: {sees: [response end], end: resource_exhausted}}", in: [.grpc]) { talk in
            talk.begin()
            talk.say("hello", end: true)
            talk.accept()
            talk.respondOnly(("grpc-status", "14"), ("grpc-message", "later"))
            talk.callerHears("head", "end resource_exhausted changed \(Self.detail)")
            #expect(talk.callerEar.head["content-length"] == nil)
            #expect(talk.callerEar.head["grpc-status"] == "8")
        }
    }

    @Test func `R8 an error that nobody changes passes as it is, details and all`() {
        converse("{name: b, gate: {}}", in: [.grpc]) { talk in
            talk.begin()
            talk.say("hello", end: true)
            talk.accept()
            let details = ("grpc-status-details-bin", "CAUSAm5v")
            talk.respondOnly(("grpc-status", "5"), ("grpc-message", "no"), details)
            talk.callerHears("head", "end not_found no")
            #expect(talk.callerEar.head["grpc-status-details-bin"] == details.1)
        }
    }

    @Test func `R8 a success becomes an error behind the messages that have gone out`() {
        converse("{name: b, gate: {sees: [response end], end: out_of_range}}") { talk in
            talk.begin()
            talk.say("hello", end: true)
            talk.accept()
            talk.respond()
            talk.reply("hi")
            talk.conclude()
            let before = talk.style == .connectUnary ? ["head"] : ["head", "message hi"]
            talk.callerHears(all: before + ["end out_of_range changed \(Self.detail)"])
        }
    }

    @Test func `R5 a trailer is added in the form of each protocol`() {
        converse("{name: b, gate: {sees: [response end], trailer: '5'}}") { talk in
            talk.begin()
            talk.say("hello", end: true)
            talk.accept()
            talk.respond()
            talk.reply("hi")
            talk.conclude(["x-theirs": "1"])
            talk.callerHears("head", "message hi", "end ok")
            #expect(talk.callerEar.trailers["x-cost"] == "5", "\(talk.style)")
            if talk.style != .connectUnary { #expect(talk.callerEar.trailers["x-theirs"] == "1", "\(talk.style)") }
        }
    }

    @Test func `R5 a trailer is added to an error, which stays`() {
        converse("{name: b, gate: {sees: [response end], trailer: '5'}}") { talk in
            talk.begin()
            talk.say("hello", end: true)
            talk.accept()
            if talk.style != .connectUnary { talk.respond() }
            talk.fail("unavailable", "later", 14)
            talk.callerHears("head", "end unavailable later")
            #expect(talk.callerEar.trailers["x-cost"] == "5", "\(talk.style)")
        }
    }
}
