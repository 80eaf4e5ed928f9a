import HTTP2Kit
import RPC
import Testing

@testable import Proxy

/// Responses of unusual forms in chains that look at them: without messages, not of the protocol, broken off, our own.
@Suite struct OddResponseTests {
    private static let detail = "+google.rpc.RetryInfo"
    private static let web: [Style] = [.connectStream, .grpcWeb, .grpcWebText]

    private func ask(_ call: CallScript) {
        call.begin()
        call.say("hello", end: true)
        call.accept()
        call.upstreamReceives("head", "message\(call.isGzip ? "*" : "") hello", "end")
        _ = call.harness.eventLog.drain()
    }

    // MARK: Ends that are compressed

    private func endCompressed(_ call: CallScript, _ frame: String) {
        let flags: UInt8 = call.style == .connectStream ? 3 : 0x81
        call.upstream.send(.data(1, call.style.framed(Gzip.compressed(frame.latin1), flags: flags), end: true))
    }

    @Test func `a compressed end is read, and passes as it came`() {
        runCall("{name: a, gate: {}}", in: Self.web, gzip: true) { call in
            ask(call)
            call.respond()
            let isConnect = call.style == .connectStream
            endCompressed(call, isConnect ? #"{"error":{"code":"aborted"}}"# : "grpc-status: 10\r\n")
            call.harness.settle()
            _ = call.callerFrames.received
            let seen = call.harness.eventLog.drain()
            #expect(seen.contains("a response end aborted"), "\(call.style): \(seen)")
            let body = call.style == .grpcWebText ? Style.bytes(ofText: call.callerFrames.body) : call.callerFrames.body
            #expect(body.first == (isConnect ? 3 : 0x81))
        }
    }

    @Test func `a compressed end keeps its error and its fields when a trailer is added`() {
        runCall("{name: a, gate: {trailer: '5'}}", in: Self.web, gzip: true) { call in
            ask(call)
            call.respond()
            let error = #"{"error":{"code":"aborted","message":"no"},"metadata":{"x-a":["1"]}}"#
            let isConnect = call.style == .connectStream
            endCompressed(call, isConnect ? error : "grpc-status: 10\r\ngrpc-message: no\r\nx-a: 1\r\n")
            call.callerReceives("head", "end aborted no")
            #expect(call.callerFrames.trailers["x-a"] == "1")
            #expect(call.callerFrames.trailers["x-cost"] == "5")
        }
    }

    // MARK: Responses without messages

    @Test func `a trailer is added to a response that is nothing but a head`() {
        runCall("{name: a, gate: {trailer: '5'}}", in: [.grpc, .grpcWeb]) { call in
            ask(call)
            call.respondOnly(("grpc-status", "5"), ("grpc-message", "no"))
            call.callerReceives("head", "end not_found no")
            #expect(call.callerFrames.head["x-cost"] == "5")
        }
    }

    @Test func `a response that is nothing but a head is replaced`() {
        runCall("{name: a, gate: {end: aborted}}", in: [.grpc, .grpcWeb]) { call in
            ask(call)
            call.respondOnly(("grpc-status", "5"), ("grpc-message", "no"))
            call.callerReceives("head", "end aborted changed \(Self.detail)")
        }
    }

    @Test func `what a proxy before the upstream says is replaced in the protocol`() {
        runCall("{name: a, gate: {end: resource_exhausted}}") { call in
            ask(call)
            call.upstream.send(.response(1, 503, ["content-type": "text/html"]), .data(1, "<p>sorry</p>", end: true))
            call.callerReceives("head", "end resource_exhausted changed \(Self.detail)")
            #expect(call.harness.eventLog.drain().contains("a response end unavailable"))
            #expect(call.callerFrames.head[":status"] == (call.style == .connectUnary ? "429" : "200"))
        }
    }

    @Test func `what a proxy before the upstream says passes as it is`() {
        runCall("{name: a, gate: {}}") { call in
            ask(call)
            call.upstream.send(.response(1, 503, ["content-type": "text/html", "content-length": "12"]))
            call.upstream.send(.data(1, "<p>sorry"), .data(1, "</p>", end: true))
            call.harness.settle()
            _ = call.callerFrames.received
            #expect(call.callerFrames.head[":status"] == "503", "\(call.style)")
            #expect(call.callerFrames.head["content-length"] == "12")
            #expect(call.callerFrames.body == "<p>sorry</p>".latin1)
        }
    }

    @Test func `an error of unary Connect passes as it is, and nobody takes it for a message`() {
        runCall("{name: a, gate: {sees: [response message, response end]}}", in: [.connectUnary]) { call in
            ask(call)
            call.fail("unavailable", "later", 14)
            call.callerReceives("head", "end unavailable later")
            #expect(call.harness.eventLog.drain().prefix(1) == ["a response end unavailable"])
            #expect(call.callerFrames.body == #"{"code":"unavailable","message":"later"}"#.latin1)
        }
    }

    // MARK: Responses in text

    @Test func `a caller that speaks text may be answered in binary`() {
        let chain = "{name: a, gate: {upper: true, trailer: '5', sees: [response message, response end]}}"
        runCall(chain, in: [.grpcWebText]) { call in
            ask(call)
            call.upstream.send(.response(1, 200, ["content-type": "application/grpc-web+json"]))
            let end = envelope("grpc-status: 0\r\n", flags: 0x80)
            call.upstream.send(.data(1, envelope("hi") + end, end: true))
            call.harness.settle()
            _ = call.callerFrames.received
            let trailers = envelope("grpc-status: 0\r\nx-cost: 5\r\n", flags: 0x80)
            #expect(call.callerFrames.body.latin1 == envelope("HI") + trailers)
        }
    }

    // MARK: Responses of our own

    @Test func `a response of our own goes through the chain like the upstream's`() {
        let chain = "{name: a, gate: {upper: true, trailer: '5'}}, {respond: {json: {a: x}}}"
        runCall(chain) { call in
            call.begin()
            call.say("{}", end: true)
            call.callerReceives("head", #"message {"A":"X"}"#, "end ok")
            let seen = call.harness.eventLog.drain().filter { $0.hasPrefix("a response") }
            #expect(seen == ["a response head", #"a response message 1 {"a":"x"}"#, "a response end ok"])
            #expect(call.callerFrames.trailers["x-cost"] == "5", "\(call.style)")
        }
    }

    @Test func `a response of our own can be held at every step`() {
        let chain =
            "{name: a, gate: {hold: [response head, response message, response end]}}, {respond: {json: {a: 1}}}"
        runCall(chain) { call in
            call.begin()
            call.say("{}", end: true)
            call.callerReceives()
            let gate = call.harness.gates["a"]
            #expect(gate.events == ["response head", "response message 1", "response end"])
            gate.releaseAll(lastFirst: true)
            call.callerReceives("head", #"message {"a":1}"#, "end ok")
        }
    }

    @Test func `a response of our own is rejected while another interceptor holds the end`() {
        let chain = """
            {name: a, gate: {hold: [response end]}}, {name: b, gate: {reject: {response head: not_found}}}, \
            {respond: {json: {a: 1}}}
            """
        runCall(chain) { call in
            call.begin()
            call.say("{}", end: true)
            call.harness.settle()
            let seen = call.harness.eventLog.drain().filter { $0.hasPrefix("a response") }
            #expect(seen == ["a response head", "a response end not_found"], "\(call.style)")
            call.harness.gates["a"].release()
            call.callerReceives("head", "end not_found no \(Self.detail)")
        }
    }

    // MARK: Failures behind what waits

    @Test func `messages that wait when the upstream breaks off come before the error`() {
        runCall("{name: a, gate: {hold: [response message]}}", in: Style.streams) { call in
            ask(call)
            call.respond()
            call.reply("1", "2")
            call.upstream.send(.data(1, Array(call.written("12345").prefix(8))))
            call.callerReceives("head")
            call.upstream.send(.reset(1, .internalError))
            call.callerReceives()
            call.harness.gates["a"].releaseAll(lastFirst: true)
            call.harness.settle()
            let received = call.callerFrames.received
            #expect(received.prefix(2) == ["message 1", "message 2"], "\(call.style)")
            #expect(received.count == 3 && received[2].hasPrefix("end "), "\(call.style): \(received)")
        }
    }

    @Test func `messages that wait when one is too large come before the error`() {
        runCall(
            "{name: a, gate: {hold: [response message]}}",
            in: Style.streams,
            listener: "limits: {response_message: 10B}"
        ) { call in
            ask(call)
            call.respond()
            call.reply("1", "2", "12345678901", "3")
            call.harness.settle()
            call.harness.gates["a"].releaseAll()
            call.harness.settle()
            let received = call.callerFrames.received
            #expect(received.last?.hasPrefix("end resource_exhausted ") == true, "\(call.style): \(received)")
            // The pieces of base64 do not show where the messages before it end.
            let before = call.style == .grpcWebText ? ["head"] : ["head", "message 1", "message 2"]
            #expect(Array(received.dropLast()) == before, "\(call.style)")
        }
    }

    @Test func `a response that ends cancels what is held of its request`() {
        runCall("{name: a, gate: {hold: [request message 2]}}", in: Style.streams) { call in
            call.begin()
            call.accept()
            call.say("1", "2")
            call.upstreamReceives("head", "message 1")
            call.respond()
            call.conclude()
            call.callerReceives("head", "end ok")
            #expect(call.harness.gates["a"].canceled == ["request message 2"])
            call.harness.settle()
            #expect(call.harness.livingCalls == 0)
        }
    }

    @Test func `what comes while the head of a second attempt is held follows it`() {
        runCall("{name: a, per: attempt, gate: {sees: [request head], hold: [request head]}}", in: Style.streams) {
            call in
            call.begin()
            call.say("1")
            call.harness.gates["a"].release()
            call.accept()
            call.upstreamReceives("head", "message 1")
            call.upstream.send(.reset(1, .rejected))
            call.harness.settle()
            #expect(call.harness.gates["a"].events == ["request head"])
            call.say("2")
            call.say("3", end: true)
            call.callerReceives()
            call.harness.gates["a"].release()
            call.accept(on: call.upstream, stream: 3)
            call.upstreamReceives("head", "message 1", "message 2", "message 3", "end")
            #expect(call.harness.eventLog.drain() == ["a request head", "a request head"])
        }
    }
}
