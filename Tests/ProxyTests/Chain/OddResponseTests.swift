import HTTP2Kit
import RPC
import Testing

@testable import Proxy

/// Responses of unusual forms in chains that look at them: without messages, not of the protocol, broken off, our own.
@Suite struct OddResponseTests {
    private static let detail = "+google.rpc.RetryInfo"
    private static let web: [Style] = [.connectStream, .grpcWeb, .grpcWebText]

    private func ask(_ talk: Conversation) {
        talk.begin()
        talk.say("hello", end: true)
        talk.accept()
        talk.upstreamHears("head", "message\(talk.isGzip ? "*" : "") hello", "end")
        _ = talk.scene.diary.take()
    }

    // MARK: Ends that are compressed

    private func endCompressed(_ talk: Conversation, _ frame: String) {
        let flags: UInt8 = talk.style == .connectStream ? 3 : 0x81
        talk.upstream.send(.data(1, talk.style.framed(Gzip.compressed(frame.latin1), flags: flags), end: true))
    }

    @Test func `R8 a compressed end is read, and passes as it came`() {
        converse("{name: a, gate: {}}", in: Self.web, gzip: true) { talk in
            ask(talk)
            talk.respond()
            let isConnect = talk.style == .connectStream
            endCompressed(talk, isConnect ? #"{"error":{"code":"aborted"}}"# : "grpc-status: 10\r\n")
            talk.scene.settle()
            _ = talk.callerEar.heard
            let seen = talk.scene.diary.take()
            #expect(seen.contains("a response end aborted"), "\(talk.style): \(seen)")
            let body = talk.style == .grpcWebText ? Style.bytes(ofText: talk.callerEar.body) : talk.callerEar.body
            #expect(body.first == (isConnect ? 3 : 0x81))
        }
    }

    @Test func `R5 a compressed end keeps its error and its fields when a trailer is added`() {
        converse("{name: a, gate: {trailer: '5'}}", in: Self.web, gzip: true) { talk in
            ask(talk)
            talk.respond()
            let error = #"{"error":{"code":"aborted","message":"no"},"metadata":{"x-a":["1"]}}"#
            let isConnect = talk.style == .connectStream
            endCompressed(talk, isConnect ? error : "grpc-status: 10\r\ngrpc-message: no\r\nx-a: 1\r\n")
            talk.callerHears("head", "end aborted no")
            #expect(talk.callerEar.trailers["x-a"] == "1")
            #expect(talk.callerEar.trailers["x-cost"] == "5")
        }
    }

    // MARK: Responses without messages

    @Test func `R5 a trailer is added to a response that is nothing but a head`() {
        converse("{name: a, gate: {trailer: '5'}}", in: [.grpc, .grpcWeb]) { talk in
            ask(talk)
            talk.respondOnly(("grpc-status", "5"), ("grpc-message", "no"))
            talk.callerHears("head", "end not_found no")
            #expect(talk.callerEar.head["x-cost"] == "5")
        }
    }

    @Test func `R8 a response that is nothing but a head is replaced`() {
        converse("{name: a, gate: {end: aborted}}", in: [.grpc, .grpcWeb]) { talk in
            ask(talk)
            talk.respondOnly(("grpc-status", "5"), ("grpc-message", "no"))
            talk.callerHears("head", "end aborted changed \(Self.detail)")
        }
    }

    @Test func `R8 what a proxy before the upstream says is replaced in the protocol`() {
        converse("{name: a, gate: {end: resource_exhausted}}") { talk in
            ask(talk)
            talk.upstream.send(.response(1, 503, ["content-type": "text/html"]), .data(1, "<p>sorry</p>", end: true))
            talk.callerHears("head", "end resource_exhausted changed \(Self.detail)")
            #expect(talk.scene.diary.take().contains("a response end unavailable"))
            #expect(talk.callerEar.head[":status"] == (talk.style == .connectUnary ? "429" : "200"))
        }
    }

    @Test func `R8 what a proxy before the upstream says passes as it is`() {
        converse("{name: a, gate: {}}") { talk in
            ask(talk)
            talk.upstream.send(.response(1, 503, ["content-type": "text/html", "content-length": "12"]))
            talk.upstream.send(.data(1, "<p>sorry"), .data(1, "</p>", end: true))
            talk.scene.settle()
            _ = talk.callerEar.heard
            #expect(talk.callerEar.head[":status"] == "503", "\(talk.style)")
            #expect(talk.callerEar.head["content-length"] == "12")
            #expect(talk.callerEar.body == "<p>sorry</p>".latin1)
        }
    }

    @Test func `E7 an error of unary Connect passes as it is, and nobody takes it for a message`() {
        converse("{name: a, gate: {sees: [response message, response end]}}", in: [.connectUnary]) { talk in
            ask(talk)
            talk.fail("unavailable", "later", 14)
            talk.callerHears("head", "end unavailable later")
            #expect(talk.scene.diary.take().prefix(1) == ["a response end unavailable"])
            #expect(talk.callerEar.body == #"{"code":"unavailable","message":"later"}"#.latin1)
        }
    }

    // MARK: Responds in text

    @Test func `R7 a caller that speaks text may be answered in binary`() {
        let chain = "{name: a, gate: {upper: true, trailer: '5', sees: [response message, response end]}}"
        converse(chain, in: [.grpcWebText]) { talk in
            ask(talk)
            talk.upstream.send(.response(1, 200, ["content-type": "application/grpc-web+json"]))
            let end = envelope("grpc-status: 0\r\n", flags: 0x80)
            talk.upstream.send(.data(1, envelope("hi") + end, end: true))
            talk.scene.settle()
            _ = talk.callerEar.heard
            let trailers = envelope("grpc-status: 0\r\nx-cost: 5\r\n", flags: 0x80)
            #expect(talk.callerEar.body.latin1 == envelope("HI") + trailers)
        }
    }

    // MARK: Responses of our own

    @Test func `R2 a response of our own goes through the chain like the upstream's`() {
        let chain = "{name: a, gate: {upper: true, trailer: '5'}}, {respond: {json: {a: x}}}"
        converse(chain) { talk in
            talk.begin()
            talk.say("{}", end: true)
            talk.callerHears("head", #"message {"A":"X"}"#, "end ok")
            let seen = talk.scene.diary.take().filter { $0.hasPrefix("a response") }
            #expect(seen == ["a response head", #"a response message 1 {"a":"x"}"#, "a response end ok"])
            #expect(talk.callerEar.trailers["x-cost"] == "5", "\(talk.style)")
        }
    }

    @Test func `E4 a response of our own can be held at every step`() {
        let chain =
            "{name: a, gate: {hold: [response head, response message, response end]}}, {respond: {json: {a: 1}}}"
        converse(chain) { talk in
            talk.begin()
            talk.say("{}", end: true)
            talk.callerHears()
            let gate = talk.scene.gates["a"]
            #expect(gate.events == ["response head", "response message 1", "response end"])
            gate.releaseAll(lastFirst: true)
            talk.callerHears("head", #"message {"a":1}"#, "end ok")
        }
    }

    @Test func `E7 a response of our own is rejected while another interceptor holds the end`() {
        let chain = """
            {name: a, gate: {hold: [response end]}}, {name: b, gate: {reject: {response head: not_found}}}, \
            {respond: {json: {a: 1}}}
            """
        converse(chain) { talk in
            talk.begin()
            talk.say("{}", end: true)
            talk.scene.settle()
            let seen = talk.scene.diary.take().filter { $0.hasPrefix("a response") }
            #expect(seen == ["a response head", "a response end not_found"], "\(talk.style)")
            talk.scene.gates["a"].release()
            talk.callerHears("head", "end not_found no \(Self.detail)")
        }
    }

    // MARK: Failures behind what waits

    @Test func `E7 messages that wait when the upstream breaks off come before the error`() {
        converse("{name: a, gate: {hold: [response message]}}", in: Style.streams) { talk in
            ask(talk)
            talk.respond()
            talk.reply("1", "2")
            talk.upstream.send(.data(1, Array(talk.written("12345").prefix(8))))
            talk.callerHears("head")
            talk.upstream.send(.reset(1, .internalError))
            talk.callerHears()
            talk.scene.gates["a"].releaseAll(lastFirst: true)
            talk.scene.settle()
            let heard = talk.callerEar.heard
            #expect(heard.prefix(2) == ["message 1", "message 2"], "\(talk.style)")
            #expect(heard.count == 3 && heard[2].hasPrefix("end "), "\(talk.style): \(heard)")
        }
    }

    @Test func `E12 messages that wait when one is too large come before the error`() {
        converse(
            "{name: a, gate: {hold: [response message]}}",
            in: Style.streams,
            listener: "limits: {response_message: 10B}"
        ) { talk in
            ask(talk)
            talk.respond()
            talk.reply("1", "2", "12345678901", "3")
            talk.scene.settle()
            talk.scene.gates["a"].releaseAll()
            talk.scene.settle()
            let heard = talk.callerEar.heard
            #expect(heard.last?.hasPrefix("end resource_exhausted ") == true, "\(talk.style): \(heard)")
            // The pieces of base64 do not show where the messages before it end.
            let before = talk.style == .grpcWebText ? ["head"] : ["head", "message 1", "message 2"]
            #expect(Array(heard.dropLast()) == before, "\(talk.style)")
        }
    }

    @Test func `E8 a response that ends cancels what is held of its request`() {
        converse("{name: a, gate: {hold: [request message 2]}}", in: Style.streams) { talk in
            talk.begin()
            talk.accept()
            talk.say("1", "2")
            talk.upstreamHears("head", "message 1")
            talk.respond()
            talk.conclude()
            talk.callerHears("head", "end ok")
            #expect(talk.scene.gates["a"].canceled == ["request message 2"])
            talk.scene.settle()
            #expect(talk.scene.livingCalls == 0)
        }
    }

    @Test func `E11 what comes while the head of a second attempt is held follows it`() {
        converse("{name: a, per: attempt, gate: {sees: [request head], hold: [request head]}}", in: Style.streams) {
            talk in
            talk.begin()
            talk.say("1")
            talk.scene.gates["a"].release()
            talk.accept()
            talk.upstreamHears("head", "message 1")
            talk.upstream.send(.reset(1, .refused))
            talk.scene.settle()
            #expect(talk.scene.gates["a"].events == ["request head"])
            talk.say("2")
            talk.say("3", end: true)
            talk.callerHears()
            talk.scene.gates["a"].release()
            talk.accept(on: talk.upstream, stream: 3)
            talk.upstreamHears("head", "message 1", "message 2", "message 3", "end")
            #expect(talk.scene.diary.take() == ["a request head", "a request head"])
        }
    }
}
