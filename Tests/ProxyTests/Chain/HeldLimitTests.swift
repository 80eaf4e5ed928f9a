import HTTP2Kit
import Testing
import Time

/// How much may wait in a chain, and how large what interceptors see may be.
@Suite struct HeldLimitTests {
    private static let looking = "{name: a, gate: {sees: [request message, response message]}}"
    private static let limited = "limits: {held_message: 1KiB}"
    private static let bomb = String(repeating: "0", count: 1 << 20)

    private func over(_ side: String, _ isGzip: Bool) -> String {
        "end resource_exhausted a \(side) message exceeds limits.held_message (1024 bytes)"
            + (isGzip ? " when decompressed" : "")
    }

    private func expectHit(_ call: CallScript) {
        let hits = call.harness.metrics(#"martlet_limit_hits_total{limit="held_message"}"#)
        #expect(hits.first?.hasSuffix(" 1") == true, "\(call.style)")
    }

    @Test func `a request that becomes too large when decompressed ends the call`() {
        runCall(Self.looking, listener: Self.limited, gzip: true) { call in
            call.begin()
            if call.style != .connectUnary { call.accept() }
            call.say(Self.bomb, end: true)
            call.harness.settle()
            let received = call.callerFrames.received
            #expect(received.first == "head" && received.count == 2)
            #expect(received.last?.hasPrefix("end resource_exhausted ") == true, "\(call.style): \(received)")
            #expect(received.last?.contains("limits.held_message (1024 bytes)") == true, "\(call.style): \(received)")
            expectHit(call)
            if call.style == .connectUnary { #expect(call.harness.upstream().connects == 0) }
        }
    }

    @Test func `a response that becomes too large when decompressed ends with an error`() {
        runCall(Self.looking, listener: Self.limited, gzip: true) { call in
            call.begin()
            call.say("hello", end: true)
            call.accept()
            call.upstreamReceives("head", "message* hello", "end")
            call.respond()
            call.reply(Self.bomb)
            if call.style == .connectUnary { call.conclude() }
            call.harness.settle()
            let received = call.callerFrames.received
            #expect(received.first == "head" && received.count == 2)
            #expect(received.last?.hasPrefix("end resource_exhausted ") == true, "\(call.style): \(received)")
            expectHit(call)
        }
    }

    @Test func `messages up to the limit are seen, larger ones are rejected`() {
        runCall(Self.looking, in: Style.streams, listener: Self.limited) { call in
            let fits = String(repeating: "x", count: 1024)
            call.begin()
            call.accept()
            call.say(fits)
            call.upstreamReceives("head", "message \(fits)")
            call.say(fits + "x")
            call.harness.settle()
            let received = call.callerFrames.received
            #expect(received.count == 2)
            #expect(received.last?.hasPrefix("end resource_exhausted ") == true, "\(call.style): \(received)")
        }
    }

    @Test func `what no interceptor looks at may be as large as it is`() {
        runCall("{name: a, gate: {sees: [request head]}}", listener: Self.limited) { call in
            let large = String(repeating: "x", count: 4096)
            call.begin()
            call.accept()
            call.say(large, end: true)
            call.upstreamReceives("head", "message \(large)", "end")
        }
    }

    @Test func `a broken message is the caller's fault in a request and the upstream's in a response`() {
        runCall(Self.looking, in: Style.streams) { call in
            let broken = call.style.framed([1, 2, 3], flags: 1)
            call.begin((call.style.encodingField, "gzip"))
            call.accept()
            call.caller.send(.data(1, broken))
            call.callerReceives("head", "end invalid_argument a request message cannot be decompressed")
        }
        runCall(Self.looking, in: Style.streams) { call in
            let broken = call.style.framed([1, 2, 3], flags: 1)
            call.begin(end: true)
            call.accept()
            call.respond((call.style.encodingField, "gzip"))
            call.upstream.send(.data(1, broken))
            call.callerReceives("head", "end internal a response message cannot be decompressed")
            call.upstreamReceives("head", "end", "reset CANCEL")
        }
    }

    @Test func `a message that is compressed in a way unknown here cannot be looked at`() {
        runCall(Self.looking, in: Style.streams) { call in
            let (field, message) = (call.style.encodingField, call.style.framed([1, 2, 3], flags: 1))
            call.begin((field, "snappy"))
            call.accept()
            call.say("plain")
            call.upstreamReceives("head", "message plain")
            call.caller.send(.data(1, message))
            let words = "the compression of the request messages is not supported"
            call.callerReceives("head", "end unimplemented \(words); use gzip, br, zstd or deflate")
        }
        runCall(Self.looking, in: Style.streams) { call in
            call.begin()
            call.accept()
            call.caller.send(.data(1, call.style.framed([1, 2, 3], flags: 1)))
            call.callerReceives(
                "head",
                "end internal a request message is compressed, but no header names the compression"
            )
        }
    }

    @Test func `a stream whose events wait is read no further than limits held_events`() {
        runCall(
            "{name: a, gate: {hold: [request message 1, response message 1]}}",
            in: Style.streams,
            listener: "limits: {held_events: 3}"
        ) { call in
            let messages = (1...20).map { "\($0)" }
            call.begin()
            call.accept()
            for message in messages { call.say(message) }
            call.hangUp()
            call.harness.settle()
            let seen = call.harness.eventLog.drain()
            #expect(seen.count == 5, "\(call.style): \(seen)")
            call.harness.gates["a"].release()
            call.upstreamReceives(all: ["head"] + messages.map { "message \($0)" } + ["end"])
            call.respond()
            for message in messages { call.reply(message) }
            call.conclude()
            call.harness.settle()
            #expect(call.harness.eventLog.drain().filter { $0.contains("response") }.count == 5)
            call.harness.gates["a"].release()
            call.callerReceives(all: ["head"] + messages.map { "message \($0)" } + ["end ok"])
        }
    }

    @Test func `messages that a later hook releases in the same piece go on and the stream is read on`() {
        runCall(
            "{name: a, gate: {hold: [request message 1, response message 1], open: [request message 3, response message 3]}}",
            in: Style.streams,
            listener: "limits: {held_events: 3}"
        ) { call in
            let messages = (1...10).map { "\($0)" }
            let body = messages.flatMap { call.written($0) }
            call.begin()
            call.accept()
            call.caller.send(.data(1, body))
            call.say("11", end: true)
            call.upstreamReceives(all: ["head"] + (messages + ["11"]).map { "message \($0)" } + ["end"])
            call.respond()
            call.upstream.send(.data(1, body))
            call.reply("11")
            call.conclude()
            call.callerReceives(all: ["head"] + (messages + ["11"]).map { "message \($0)" } + ["end ok"])
        }
    }

    @Test(arguments: Transport.allCases)
    func `a body whose bytes wait is read no further than limits held_bytes`(_ transport: Transport) {
        let yaml = """
            listeners: [{address: "127.0.0.1:8080", limits: {held_bytes: 64KiB}}]
            upstream: h2c://127.0.0.1:9000
            interceptors: [{name: a, gate: {hold: [request head, response head], sees: [request head, response head]}}]
            """
        runProxy(transport, yaml) { harness in
            let (all, most) = (2 << 20, (64 + 32 + 256) * 1024)
            let caller = harness.http2Caller([.window: 4 << 20])
            caller.send(.window(0, 4 << 20), .say(1, "application/grpc"))
            var sent = caller.send(body: all, on: 1)
            harness.settle()
            sent += caller.send(body: all, on: 1)
            #expect(sent <= most && sent >= 64 * 1024, "\(sent)")
            harness.gates["a"].release()
            let upstream = harness.upstream().acceptHTTP2(in: harness, [.window: 4 << 20])
            upstream.send(.window(0, 4 << 20))
            harness.until {
                sent += caller.send(body: all - sent, on: 1)
                return upstream.bodyBytes(1) == all
            }
            #expect(upstream.bodyBytes(1) == all)
            upstream.send(.response(1, 200, ["content-type": "application/grpc"]))
            var responded = upstream.send(body: all, on: 1)
            harness.settle()
            responded += upstream.send(body: all, on: 1)
            #expect(responded <= most && responded >= 64 * 1024, "\(responded)")
            harness.gates["a"].release()
            harness.until {
                responded += upstream.send(body: all - responded, on: 1)
                return caller.bodyBytes(1) == all
            }
            #expect(caller.bodyBytes(1) == all)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a connection of HTTP 1 goes on after a call that ended while it was held back`(_ transport: Transport) {
        let yaml = """
            listeners: [{address: "127.0.0.1:8080", limits: {held_bytes: 16KiB}}]
            upstream: http://127.0.0.1:9000
            interceptors: [{when: {path: /p}, name: a, gate: {hold: [request head], sees: [request head]}}]
            """
        runProxy(transport, yaml) { harness in
            let caller = harness.caller()
            caller.send(http("POST /p HTTP/1.1", "host: a", "content-length: 300000"))
            caller.send(String(repeating: "a", count: 300_000) + say)
            harness.settle()
            harness.pass(.seconds(31))
            #expect(caller.head().hasPrefix("HTTP/1.1 504 "))
            _ = caller.receive(92)
            harness.upstream().accept().expect(saidUpstream)
        }
    }

    @Test func `of many messages in one piece no more wait than limits held_events, and all of them arrive`() {
        let yaml = """
            listeners: [{address: "127.0.0.1:8080", limits: {held_events: 10}}]
            upstream: h2c://127.0.0.1:9000
            interceptors: [{gate: {sees: [request message], hold: [request message 1]}}]
            """
        runProxy(yaml) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc"))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = upstream.next()
            let piece = [UInt8](repeating: 0, count: 5 * 3000)
            caller.send(.data(1, piece, end: true))
            harness.settle()
            #expect(harness.eventLog.drain().count <= 11)
            harness.gates["gate"].releaseAll()
            harness.until { upstream.bodyBytes(1) == piece.count }
            #expect(upstream.bodyBytes(1) == piece.count)
            #expect(upstream.frames.last?.flags == Frame.Flag.end)
        }
    }
}
