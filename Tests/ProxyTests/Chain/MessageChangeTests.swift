import HTTP2Kit
import Testing

/// What interceptors do to messages, and that nothing is done to those that they only look at.
@Suite struct MessageChangeTests {
    private static let looking = "{name: a, gate: {sees: [request message, response message]}}"
    private static let upper = "{name: a, gate: {upper: true, sees: [request message, response message]}}"

    /// A call with one message each way, which the upstream and the caller hear as said here.
    private func expect(_ talk: Conversation, _ request: String, _ response: String) {
        talk.begin()
        talk.say("hello", end: true)
        talk.accept()
        talk.upstreamHears("head", "message\(request)", "end")
        talk.respond()
        talk.reply("hi")
        talk.conclude()
        talk.callerHears("head", "message\(response)", "end ok")
        talk.expectSilence()
    }

    @Test func `R7 messages can be changed both ways`() {
        converse(Self.upper) { expect($0, " HELLO", " HI") }
    }

    @Test func `R7 a compressed message that was changed is compressed again`() {
        converse(Self.upper, gzip: true) { expect($0, "* HELLO", "* HI") }
    }

    @Test func `R7 interceptors see compressed messages decompressed`() {
        converse(Self.looking, gzip: true) { talk in
            expect(talk, "* hello", "* hi")
            let seen = talk.scene.diary.take().filter { $0.contains("message") }
            #expect(seen == ["a request message 1 hello", "a response message 1 hi"])
        }
    }

    @Test func `R7 a changed message is what the next interceptor sees`() {
        let chain = "{name: a, gate: {upper: true}}, {name: b, gate: {}}"
        converse(chain, gzip: true) { talk in
            expect(talk, "* HELLO", "* HI")
            let seen = talk.scene.diary.take().filter { $0.contains("message") }
            let request = ["a request message 1 hello", "b request message 1 HELLO"]
            #expect(seen == request + ["b response message 1 hi", "a response message 1 hi"])
        }
    }

    @Test(arguments: [false, true])
    func `E3 a message that is only looked at keeps its bytes, however it is cut`(_ isGzip: Bool) {
        converse(Self.looking, in: Style.streams, on: [.memory], gzip: isGzip) { talk in
            // Stored, so that it is not what would come of compressing it here.
            let body = Array(
                (isGzip ? [Self.stored, Self.stored] : ["hello", "", "you"]).map { message in
                    talk.style.framed(isGzip ? bytes(message) : message.latin1, flags: isGzip ? 1 : 0)
                }.joined()
            )
            talk.begin()
            talk.accept()
            for byte in body { talk.caller.send(.data(1, [byte])) }
            talk.hangUp()
            talk.scene.settle()
            let sent = talk.upstreamEar.heard
            #expect(sent.count == (isGzip ? 4 : 5), "\(talk.style): \(sent)")
            #expect(talk.upstreamEar.body == body, "\(talk.style)")
            talk.respond()
            for byte in body { talk.upstream.send(.data(1, [byte])) }
            talk.conclude()
            talk.scene.settle()
            #expect(talk.callerEar.heard.last == "end ok")
            #expect(talk.callerEar.body.starts(with: body), "\(talk.style)")
        }
    }

    /// `hi`, in the form of gzip without any compression.
    private static let stored = "1f8b0800000000000003010200fdff6869ac2a93d802000000"

    @Test func `E3 a bare message that is only looked at keeps its bytes and its length`() {
        for (field, body) in [("x-a", "hello".latin1), ("content-encoding", bytes(Self.stored))] {
            converse(Self.looking, in: [.connectUnary]) { talk in
                talk.begin((field, "gzip"), ("content-length", "\(body.count)"))
                for byte in body { talk.caller.send(.data(1, [byte])) }
                talk.hangUp()
                talk.accept()
                talk.scene.settle()
                _ = talk.upstreamEar.heard
                #expect(talk.upstreamEar.body == body)
                #expect(talk.upstreamEar.head["content-length"] == "\(body.count)")
                talk.respond((field, "gzip"))
                for byte in body { talk.upstream.send(.data(1, [byte])) }
                talk.conclude()
                talk.scene.settle()
                _ = talk.callerEar.heard
                #expect(talk.callerEar.body == body)
                #expect(talk.callerEar.head["content-length"] == "\(body.count)")
            }
        }
    }

    @Test func `R7 a message that is dropped is missed, and the numbers go on`() {
        let chain = "{name: a, gate: {}}, {name: b, gate: {drop: [request message 2, response message 1]}}"
        converse(chain, in: Style.streams) { talk in
            talk.begin()
            talk.say("1", "2", "3", end: true)
            talk.accept()
            talk.upstreamHears("head", "message 1", "message 3", "end")
            talk.respond()
            talk.reply("x", "y")
            talk.conclude()
            talk.callerHears("head", "message y", "end ok")
            let seen = talk.scene.diary.take().filter { $0.hasPrefix("a response message") }
            #expect(seen == ["a response message 2 y"])
        }
    }

    @Test func `R7 a bare message that is dropped becomes an empty one`() {
        let chain = "{name: b, gate: {drop: [request message, response message]}}"
        converse(chain, in: [.connectUnary]) { expect($0, " ", " ") }
    }

    @Test func `R7 messages can be added behind others, and only those that follow see them`() {
        let chain = "{name: a, gate: {}}, {name: b, gate: {add: {request message 1: x, response message 2: y}}}"
        converse(chain, in: Style.streams) { talk in
            talk.begin()
            talk.say("1", "2", end: true)
            talk.accept()
            talk.upstreamHears("head", "message 1", "message x", "message 2", "end")
            talk.respond()
            talk.reply("1", "2")
            talk.conclude()
            talk.callerHears("head", "message 1", "message 2", "message y", "end ok")
            let seen = talk.scene.diary.take().filter { $0.contains("message") }
            let request = ["a request message 1 1", "b request message 1 1"]
            #expect(seen.prefix(2) == request[...])
            #expect(seen.suffix(2) == ["a response message 2 2", "a response message 2 y"])
            #expect(seen.count == 9)
        }
    }

    @Test func `R7 a message can be replaced by several, which wait where it waits`() {
        let chain =
            "{name: b, gate: {drop: [response message 1], add: {response message 1: y}, hold: [response message 1]}}"
        converse(chain, in: Style.streams) { talk in
            talk.begin(end: true)
            talk.accept()
            talk.respond()
            talk.reply("1", "2")
            talk.conclude()
            talk.callerHears("head")
            talk.scene.gates["b"].release()
            talk.callerHears("message y", "message 2", "end ok")
        }
    }

    @Test func `R7 the length of a body whose messages may change is not announced`() {
        let chain = "{name: b, gate: {add: {request message 1: more, response message 1: more}}}"
        converse(chain, in: Style.streams) { talk in
            let body = talk.written("1")
            talk.begin(("content-length", "\(body.count)"))
            talk.say("1", end: true)
            talk.accept()
            talk.upstreamHears("head", "message 1", "message more", "end")
            #expect(talk.upstreamEar.head["content-length"] == nil, "\(talk.style)")
            talk.respond()
            talk.reply("1")
            talk.conclude()
            talk.callerHears("head", "message 1", "message more", "end ok")
        }
    }

    @Test func `R7 the announced length of a response whose messages may change is taken back`() {
        converse("{name: b, gate: {add: {response message 1: more}}}", in: [.connectStream, .grpcWeb]) { talk in
            talk.begin(end: true)
            talk.accept()
            let end = talk.style == .connectStream ? 5 + 2 : 5 + "grpc-status: 0\r\n".utf8.count
            talk.respond(("content-length", "\(talk.written("1").count + end)"))
            talk.reply("1")
            talk.conclude()
            talk.callerHears("head", "message 1", "message more", "end ok")
            #expect(talk.callerEar.head["content-length"] == nil, "\(talk.style)")
        }
    }

    @Test func `R7 a changed bare message has its own length`() {
        let chain = "{name: b, gate: {hold: [request message], sees: [request message, response message]}}"
        converse(chain, in: [.connectUnary]) { talk in
            talk.begin(("content-length", "5"))
            talk.say("hello", end: true)
            talk.scene.settle()
            talk.scene.gates["b"].release()
            talk.accept()
            talk.upstreamHears("head", "message hello", "end")
            #expect(talk.upstreamEar.head["content-length"] == "5")
        }
        converse("{name: b, gate: {drop: [request message, response message]}}", in: [.connectUnary]) { talk in
            talk.begin(("content-length", "5"))
            talk.say("hello", end: true)
            talk.accept()
            talk.upstreamHears("head", "message ", "end")
            #expect(talk.upstreamEar.head["content-length"] == "0")
            talk.respond(("content-length", "2"))
            talk.reply("hi")
            talk.conclude()
            talk.callerHears("head", "message ", "end ok")
            #expect(talk.callerEar.head["content-length"] == "0")
        }
    }
}
