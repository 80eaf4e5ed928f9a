import HTTP2Kit
import Testing

/// What interceptors do to messages, and that nothing is done to those that they only look at.
@Suite struct MessageChangeTests {
    private static let looking = "{name: a, gate: {sees: [request message, response message]}}"
    private static let upper = "{name: a, gate: {upper: true, sees: [request message, response message]}}"

    /// A call with one message each way, which the upstream and the caller hear as said here.
    private func expect(_ call: CallScript, _ request: String, _ response: String) {
        call.begin()
        call.say("hello", end: true)
        call.accept()
        call.upstreamReceives("head", "message\(request)", "end")
        call.respond()
        call.reply("hi")
        call.conclude()
        call.callerReceives("head", "message\(response)", "end ok")
        call.expectSilence()
    }

    @Test func `messages can be changed both ways`() {
        runCall(Self.upper) { expect($0, " HELLO", " HI") }
    }

    @Test func `a compressed message that was changed is compressed again`() {
        runCall(Self.upper, gzip: true) { expect($0, "* HELLO", "* HI") }
    }

    @Test func `interceptors see compressed messages decompressed`() {
        runCall(Self.looking, gzip: true) { call in
            expect(call, "* hello", "* hi")
            let seen = call.harness.eventLog.drain().filter { $0.contains("message") }
            #expect(seen == ["a request message 1 hello", "a response message 1 hi"])
        }
    }

    @Test func `a changed message is what the next interceptor sees`() {
        let chain = "{name: a, gate: {upper: true}}, {name: b, gate: {}}"
        runCall(chain, gzip: true) { call in
            expect(call, "* HELLO", "* HI")
            let seen = call.harness.eventLog.drain().filter { $0.contains("message") }
            let request = ["a request message 1 hello", "b request message 1 HELLO"]
            #expect(seen == request + ["b response message 1 hi", "a response message 1 hi"])
        }
    }

    @Test(arguments: [false, true])
    func `a message that is only looked at keeps its bytes, however it is cut`(_ isGzip: Bool) {
        runCall(Self.looking, in: Style.streams, on: [.memory], gzip: isGzip) { call in
            // Stored, so that it is not what would come of compressing it here.
            let body = Array(
                (isGzip ? [Self.stored, Self.stored] : ["hello", "", "you"]).map { message in
                    call.style.framed(isGzip ? bytes(message) : message.latin1, flags: isGzip ? 1 : 0)
                }.joined()
            )
            call.begin()
            call.accept()
            for byte in body { call.caller.send(.data(1, [byte])) }
            call.hangUp()
            call.harness.settle()
            let sent = call.upstreamFrames.received
            #expect(sent.count == (isGzip ? 4 : 5), "\(call.style): \(sent)")
            #expect(call.upstreamFrames.body == body, "\(call.style)")
            call.respond()
            for byte in body { call.upstream.send(.data(1, [byte])) }
            call.conclude()
            call.harness.settle()
            #expect(call.callerFrames.received.last == "end ok")
            #expect(call.callerFrames.body.starts(with: body), "\(call.style)")
        }
    }

    /// `hi`, in the form of gzip without any compression.
    private static let stored = "1f8b0800000000000003010200fdff6869ac2a93d802000000"

    @Test func `a bare message that is only looked at keeps its bytes and its length`() {
        for (field, body) in [("x-a", "hello".latin1), ("content-encoding", bytes(Self.stored))] {
            runCall(Self.looking, in: [.connectUnary]) { call in
                call.begin((field, "gzip"), ("content-length", "\(body.count)"))
                for byte in body { call.caller.send(.data(1, [byte])) }
                call.hangUp()
                call.accept()
                call.harness.settle()
                _ = call.upstreamFrames.received
                #expect(call.upstreamFrames.body == body)
                #expect(call.upstreamFrames.head["content-length"] == "\(body.count)")
                call.respond((field, "gzip"))
                for byte in body { call.upstream.send(.data(1, [byte])) }
                call.conclude()
                call.harness.settle()
                _ = call.callerFrames.received
                #expect(call.callerFrames.body == body)
                #expect(call.callerFrames.head["content-length"] == "\(body.count)")
            }
        }
    }

    @Test func `a message that is dropped is missed, and the numbers go on`() {
        let chain = "{name: a, gate: {}}, {name: b, gate: {drop: [request message 2, response message 1]}}"
        runCall(chain, in: Style.streams) { call in
            call.begin()
            call.say("1", "2", "3", end: true)
            call.accept()
            call.upstreamReceives("head", "message 1", "message 3", "end")
            call.respond()
            call.reply("x", "y")
            call.conclude()
            call.callerReceives("head", "message y", "end ok")
            let seen = call.harness.eventLog.drain().filter { $0.hasPrefix("a response message") }
            #expect(seen == ["a response message 2 y"])
        }
    }

    @Test func `a bare message that is dropped becomes an empty one`() {
        let chain = "{name: b, gate: {drop: [request message, response message]}}"
        runCall(chain, in: [.connectUnary]) { expect($0, " ", " ") }
    }

    @Test func `messages can be added behind others, and only those that follow see them`() {
        let chain = "{name: a, gate: {}}, {name: b, gate: {add: {request message 1: x, response message 2: y}}}"
        runCall(chain, in: Style.streams) { call in
            call.begin()
            call.say("1", "2", end: true)
            call.accept()
            call.upstreamReceives("head", "message 1", "message x", "message 2", "end")
            call.respond()
            call.reply("1", "2")
            call.conclude()
            call.callerReceives("head", "message 1", "message 2", "message y", "end ok")
            let seen = call.harness.eventLog.drain().filter { $0.contains("message") }
            let request = ["a request message 1 1", "b request message 1 1"]
            #expect(seen.prefix(2) == request[...])
            #expect(seen.suffix(2) == ["a response message 2 2", "a response message 2 y"])
            #expect(seen.count == 9)
        }
    }

    @Test func `a message can be replaced by several, which wait where it waits`() {
        let chain =
            "{name: b, gate: {drop: [response message 1], add: {response message 1: y}, hold: [response message 1]}}"
        runCall(chain, in: Style.streams) { call in
            call.begin(end: true)
            call.accept()
            call.respond()
            call.reply("1", "2")
            call.conclude()
            call.callerReceives("head")
            call.harness.gates["b"].release()
            call.callerReceives("message y", "message 2", "end ok")
        }
    }

    @Test func `the length of a body whose messages may change is not announced`() {
        let chain = "{name: b, gate: {add: {request message 1: more, response message 1: more}}}"
        runCall(chain, in: Style.streams) { call in
            let body = call.written("1")
            call.begin(("content-length", "\(body.count)"))
            call.say("1", end: true)
            call.accept()
            call.upstreamReceives("head", "message 1", "message more", "end")
            #expect(call.upstreamFrames.head["content-length"] == nil, "\(call.style)")
            call.respond()
            call.reply("1")
            call.conclude()
            call.callerReceives("head", "message 1", "message more", "end ok")
        }
    }

    @Test func `the announced length of a response whose messages may change is taken back`() {
        runCall("{name: b, gate: {add: {response message 1: more}}}", in: [.connectStream, .grpcWeb]) { call in
            call.begin(end: true)
            call.accept()
            let end = call.style == .connectStream ? 5 + 2 : 5 + "grpc-status: 0\r\n".utf8.count
            call.respond(("content-length", "\(call.written("1").count + end)"))
            call.reply("1")
            call.conclude()
            call.callerReceives("head", "message 1", "message more", "end ok")
            #expect(call.callerFrames.head["content-length"] == nil, "\(call.style)")
        }
    }

    @Test func `a changed bare message has its own length`() {
        let chain = "{name: b, gate: {hold: [request message], sees: [request message, response message]}}"
        runCall(chain, in: [.connectUnary]) { call in
            call.begin(("content-length", "5"))
            call.say("hello", end: true)
            call.harness.settle()
            call.harness.gates["b"].release()
            call.accept()
            call.upstreamReceives("head", "message hello", "end")
            #expect(call.upstreamFrames.head["content-length"] == "5")
        }
        runCall("{name: b, gate: {drop: [request message, response message]}}", in: [.connectUnary]) { call in
            call.begin(("content-length", "5"))
            call.say("hello", end: true)
            call.accept()
            call.upstreamReceives("head", "message ", "end")
            #expect(call.upstreamFrames.head["content-length"] == "0")
            call.respond(("content-length", "2"))
            call.reply("hi")
            call.conclude()
            call.callerReceives("head", "message ", "end ok")
            #expect(call.callerFrames.head["content-length"] == "0")
        }
    }
}
