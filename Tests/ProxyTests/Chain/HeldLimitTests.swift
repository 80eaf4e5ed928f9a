import HTTP2Kit
import Testing

/// How much may wait in a chain, and how large what interceptors see may be.
@Suite struct HeldLimitTests {
    private static let looking = "{name: a, gate: {sees: [request message, response message]}}"
    private static let limited = "limits: {held_message: 1KiB}"
    private static let bomb = String(repeating: "0", count: 1 << 20)

    private func over(_ side: String, _ isGzip: Bool) -> String {
        "end resource_exhausted a message of the \(side) is over limits.held_message, 1024 bytes"
            + (isGzip ? " when decompressed" : "")
    }

    private func expectHit(_ talk: Conversation) {
        let hits = talk.scene.metrics(#"martlet_limit_hits_total{limit="held_message"}"#)
        #expect(hits.first?.hasSuffix(" 1") == true, "\(talk.style)")
    }

    @Test func `E12 a request that becomes too large when decompressed ends the call`() {
        converse(Self.looking, listener: Self.limited, gzip: true) { talk in
            talk.begin()
            if talk.style != .connectUnary { talk.accept() }
            talk.say(Self.bomb, end: true)
            talk.scene.settle()
            let heard = talk.callerEar.heard
            #expect(heard.first == "head" && heard.count == 2)
            #expect(heard.last?.hasPrefix("end resource_exhausted ") == true, "\(talk.style): \(heard)")
            #expect(heard.last?.contains("limits.held_message, 1024 bytes") == true, "\(talk.style): \(heard)")
            expectHit(talk)
            if talk.style == .connectUnary { #expect(talk.scene.upstream().connects == 0) }
        }
    }

    @Test func `E12 a response that becomes too large when decompressed ends with an error`() {
        converse(Self.looking, listener: Self.limited, gzip: true) { talk in
            talk.begin()
            talk.say("hello", end: true)
            talk.accept()
            talk.upstreamHears("head", "message* hello", "end")
            talk.respond()
            talk.reply(Self.bomb)
            if talk.style == .connectUnary { talk.conclude() }
            talk.scene.settle()
            let heard = talk.callerEar.heard
            #expect(heard.first == "head" && heard.count == 2)
            #expect(heard.last?.hasPrefix("end resource_exhausted ") == true, "\(talk.style): \(heard)")
            expectHit(talk)
        }
    }

    @Test func `E12 messages up to the limit are seen, larger ones are refused`() {
        converse(Self.looking, in: Style.streams, listener: Self.limited) { talk in
            let fits = String(repeating: "x", count: 1024)
            talk.begin()
            talk.accept()
            talk.say(fits)
            talk.upstreamHears("head", "message \(fits)")
            talk.say(fits + "x")
            talk.scene.settle()
            let heard = talk.callerEar.heard
            #expect(heard.count == 2)
            #expect(heard.last?.hasPrefix("end resource_exhausted ") == true, "\(talk.style): \(heard)")
        }
    }

    @Test func `E12 what no interceptor looks at may be as large as it is`() {
        converse("{name: a, gate: {sees: [request head]}}", listener: Self.limited) { talk in
            let large = String(repeating: "x", count: 4096)
            talk.begin()
            talk.accept()
            talk.say(large, end: true)
            talk.upstreamHears("head", "message \(large)", "end")
        }
    }

    @Test func `E12 a broken message is the caller's fault in a request and the upstream's in a response`() {
        converse(Self.looking, in: Style.streams) { talk in
            let broken = talk.style.framed([1, 2, 3], flags: 1)
            talk.begin((talk.style.encodingField, "gzip"))
            talk.accept()
            talk.caller.send(.data(1, broken))
            talk.callerHears("head", "end invalid_argument a message of the request cannot be decompressed")
        }
        converse(Self.looking, in: Style.streams) { talk in
            let broken = talk.style.framed([1, 2, 3], flags: 1)
            talk.begin(end: true)
            talk.accept()
            talk.respond((talk.style.encodingField, "gzip"))
            talk.upstream.send(.data(1, broken))
            talk.callerHears("head", "end internal a message of the response cannot be decompressed")
            talk.upstreamHears("head", "end", "reset CANCEL")
        }
    }

    @Test func `E3 a message that is compressed in a way unknown here cannot be looked at`() {
        converse(Self.looking, in: Style.streams) { talk in
            let (field, message) = (talk.style.encodingField, talk.style.framed([1, 2, 3], flags: 1))
            talk.begin((field, "snappy"))
            talk.accept()
            talk.say("plain")
            talk.upstreamHears("head", "message plain")
            talk.caller.send(.data(1, message))
            let words = "messages of the request are compressed in a way that is not supported here"
            talk.callerHears("head", "end unimplemented \(words); supported: gzip, br, zstd, deflate")
        }
        converse(Self.looking, in: Style.streams) { talk in
            talk.begin()
            talk.accept()
            talk.caller.send(.data(1, talk.style.framed([1, 2, 3], flags: 1)))
            talk.callerHears("head", "end internal a message of the request is compressed, and no header says how")
        }
    }

    @Test func `E4 a stream whose events wait is read no further than limits held_events`() {
        converse(
            "{name: a, gate: {hold: [request message 1, response message 1]}}",
            in: Style.streams,
            listener: "limits: {held_events: 3}"
        ) { talk in
            let messages = (1...20).map { "\($0)" }
            talk.begin()
            talk.accept()
            for message in messages { talk.say(message) }
            talk.hangUp()
            talk.scene.settle()
            let seen = talk.scene.diary.take()
            #expect(seen.count == 5, "\(talk.style): \(seen)")
            talk.scene.gates["a"].release()
            talk.upstreamHears(all: ["head"] + messages.map { "message \($0)" } + ["end"])
            talk.respond()
            for message in messages { talk.reply(message) }
            talk.conclude()
            talk.scene.settle()
            #expect(talk.scene.diary.take().filter { $0.contains("response") }.count == 5)
            talk.scene.gates["a"].release()
            talk.callerHears(all: ["head"] + messages.map { "message \($0)" } + ["end ok"])
        }
    }

    @Test func `E4 messages that a later hook releases in the same piece go on and the stream is read on`() {
        converse(
            "{name: a, gate: {hold: [request message 1, response message 1], open: [request message 3, response message 3]}}",
            in: Style.streams,
            listener: "limits: {held_events: 3}"
        ) { talk in
            let messages = (1...10).map { "\($0)" }
            let body = messages.flatMap { talk.written($0) }
            talk.begin()
            talk.accept()
            talk.caller.send(.data(1, body))
            talk.say("11", end: true)
            talk.upstreamHears(all: ["head"] + (messages + ["11"]).map { "message \($0)" } + ["end"])
            talk.respond()
            talk.upstream.send(.data(1, body))
            talk.reply("11")
            talk.conclude()
            talk.callerHears(all: ["head"] + (messages + ["11"]).map { "message \($0)" } + ["end ok"])
        }
    }

    @Test(arguments: Stage.allCases)
    func `E4 a body whose bytes wait is read no further than limits held_bytes`(_ stage: Stage) {
        let yaml = """
            listeners: [{address: "127.0.0.1:8080", limits: {held_bytes: 64KiB}}]
            upstream: h2c://127.0.0.1:9000
            interceptors: [{name: a, gate: {hold: [request head, response head], sees: [request head, response head]}}]
            """
        play(stage, yaml) { scene in
            let (all, most) = (2 << 20, (64 + 32 + 256) * 1024)
            let caller = scene.http2Caller([.window: 4 << 20])
            caller.send(.window(0, 4 << 20), .say(1, "application/grpc"))
            var sent = caller.send(body: all, on: 1)
            scene.settle()
            sent += caller.send(body: all, on: 1)
            #expect(sent <= most && sent >= 64 * 1024, "\(sent)")
            scene.gates["a"].release()
            let upstream = scene.upstream().acceptHTTP2(in: scene, [.window: 4 << 20])
            upstream.send(.window(0, 4 << 20))
            scene.until {
                sent += caller.send(body: all - sent, on: 1)
                return upstream.bodyBytes(1) == all
            }
            #expect(upstream.bodyBytes(1) == all)
            upstream.send(.response(1, 200, ["content-type": "application/grpc"]))
            var responded = upstream.send(body: all, on: 1)
            scene.settle()
            responded += upstream.send(body: all, on: 1)
            #expect(responded <= most && responded >= 64 * 1024, "\(responded)")
            scene.gates["a"].release()
            scene.until {
                responded += upstream.send(body: all - responded, on: 1)
                return caller.bodyBytes(1) == all
            }
            #expect(caller.bodyBytes(1) == all)
        }
    }

    @Test(arguments: Stage.allCases)
    func `E4 a connection of HTTP 1 goes on after a call that ended while it was held back`(_ stage: Stage) {
        let yaml = """
            listeners: [{address: "127.0.0.1:8080", limits: {held_bytes: 16KiB}}]
            upstream: http://127.0.0.1:9000
            interceptors: [{when: {path: /p}, name: a, gate: {hold: [request head], sees: [request head]}}]
            """
        play(stage, yaml) { scene in
            let caller = scene.caller()
            caller.send(http("POST /p HTTP/1.1", "host: a", "content-length: 300000"))
            caller.send(String(repeating: "a", count: 300_000) + say)
            scene.settle()
            scene.pass(.seconds(31))
            #expect(caller.head().hasPrefix("HTTP/1.1 504 "))
            _ = caller.take(92)
            scene.upstream().accept().expect(saidUpstream)
        }
    }

    @Test func `E4 of many messages in one piece no more wait than limits held_events, and all of them arrive`() {
        let yaml = """
            listeners: [{address: "127.0.0.1:8080", limits: {held_events: 10}}]
            upstream: h2c://127.0.0.1:9000
            interceptors: [{gate: {sees: [request message], hold: [request message 1]}}]
            """
        play(yaml) { scene in
            let caller = scene.http2Caller()
            caller.send(.say(1, "application/grpc"))
            let upstream = scene.upstream().acceptHTTP2(in: scene)
            _ = upstream.next()
            let piece = [UInt8](repeating: 0, count: 5 * 3000)
            caller.send(.data(1, piece, end: true))
            scene.settle()
            #expect(scene.diary.take().count <= 11)
            scene.gates["gate"].releaseAll()
            scene.until { upstream.bodyBytes(1) == piece.count }
            #expect(upstream.bodyBytes(1) == piece.count)
            #expect(upstream.frames.last?.flags == Frame.Flag.end)
        }
    }
}
