import HTTP2Kit
import Testing

@testable import Proxy

/// Calls that an interceptor has tried once more: the response is dropped, and the request goes again.
@Suite struct RetryTests {
    private func chain(_ retry: String) -> String {
        "{name: a, gate: {}}, {name: b, gate: {retry: {\(retry)}}}, {name: c, gate: {}}"
    }

    private func events(_ name: String, _ kind: String, _ talk: Conversation) -> [String] {
        talk.scene.diary.events.filter { $0.hasPrefix("\(name) \(kind)") }.map { String($0.dropFirst(2)) }
    }

    @Test(arguments: ["response head", "response end"])
    func `a dropped response is not seen by the caller, nor by those before`(_ event: String) {
        converse(chain("\(event): 1")) { talk in
            talk.ask()
            talk.refuse()
            talk.askedAgain()
            talk.settleWell()
            let good = ["response head", "response message 1 new", "response end ok"]
            // A head has come through the chain before its end; it waits only where it would go out.
            let dropped = event == "response end" ? ["response head"] : []
            #expect(events("a", "response", talk) == dropped + good, "\(talk.style)")
            #expect(events("c", "response", talk).suffix(3) == good[...], "\(talk.style)")
            #expect(events("c", "response head", talk).count == 2)
            #expect(events("c", "request", talk) == events("a", "request", talk))
            for name in ["a", "b", "c"] {
                #expect(events(name, "finished", talk) == ["finished ok by upstream"], "\(talk.style)")
            }
            #expect(talk.scene.retries("rule") == 1)
        }
    }

    @Test func `the first message can lead to another try, as nothing has gone out before it`() {
        converse(chain("response message 1: 1")) { talk in
            talk.ask()
            talk.respond()
            talk.reply("old")
            talk.conclude()
            talk.askedAgain()
            talk.settleWell()
            #expect(!talk.scene.diary.events.contains { $0.hasPrefix("a ") && $0.hasSuffix("old") })
        }
    }

    @Test(arguments: ["response head", "response end"])
    func `a response that is only trailers is dropped as any other`(_ event: String) {
        converse(chain("\(event): 1"), in: [.grpc]) { talk in
            talk.ask()
            talk.respondOnly(("grpc-status", "16"))
            talk.askedAgain()
            talk.settleWell()
        }
    }

    @Test func `an interceptor asks as often as it likes, and a gRPC server hears how often`() {
        converse("{gate: {sees: [response head, response end], retry: {response end: 2}}}") { talk in
            talk.ask()
            var heard = [talk.upstreamEar.head["grpc-previous-rpc-attempts"]]
            for stream in [3, 5] {
                talk.refuse()
                talk.askedAgain(stream: stream)
                heard.append(talk.upstreamEar.head["grpc-previous-rpc-attempts"])
            }
            #expect(heard == (talk.style == .grpc ? [nil, "1", "2"] : [nil, nil, nil]))
            talk.refuse()
            talk.callerHearsRefusal()
            #expect(talk.scene.retries("rule") == 2)
        }
    }

    @Test func `a call is tried 32 times at most`() {
        converse("{gate: {retry: {response end: 100}}}", on: [.memory]) { talk in
            talk.ask()
            for attempt in 2...32 {
                talk.refuse()
                talk.askedAgain(stream: 2 * attempt - 1)
            }
            talk.refuse()
            talk.callerHearsRefusal()
            #expect(talk.scene.retries("rule") == 31)
            #expect(talk.scene.skippedRetries("attempts") == 1)
            #expect(talk.scene.diary.events.filter { $0.contains("finished") }.count == 1)
        }
    }

    // MARK: What is in the way

    @Test func `what has begun to go out is not taken back`() {
        converse("{gate: {sees: [response end], retry: {response end: 1}}}", in: Style.streams) { talk in
            talk.ask()
            talk.respond()
            talk.reply("one")
            talk.callerHears("head", "message one")
            talk.fail("unauthenticated", "old", 16)
            talk.callerHears("end unauthenticated old")
            talk.expectSilence()
            #expect(talk.scene.skippedRetries("delivered") == 1)
            #expect(talk.scene.retries("rule") == 0)
        }
    }

    @Test func `a request that is too large to be kept goes once`() {
        converse("{gate: {sees: [response end], retry: {response end: 1}}}", on: [.memory]) { talk in
            let piece = String(repeating: "x", count: 12_000)
            talk.begin()
            talk.say(piece)
            // Unary requests may be held back, but only where somebody asks for their messages.
            talk.accept()
            talk.upstream.send(.window(0, 100_000), .window(1, 100_000))
            for count in 2...6 { talk.say(piece, end: count == 6) }
            talk.scene.until { talk.upstreamEar.heard.last == "end" }
            talk.upstreamEar.take(talk.upstreamEar.heard.count)
            talk.refuse()
            talk.callerHearsRefusal()
            #expect(talk.scene.skippedRetries("buffer") == 1)
        }
    }

    @Test func `how much of a request is kept is the upstream's limit`() {
        let chain = "{gate: {sees: [response end], retry: {response end: 1}}}"
        // The message has an envelope of five bytes.
        for (limit, isKept) in [("0", false), ("9B", false), ("10B", true)] {
            converse(chain, in: [.grpc], on: [.memory], upstream: "limits: {replay: \(limit)}") { talk in
                talk.begin()
                talk.say("hello", end: true)
                talk.accept()
                talk.scene.until { talk.upstreamEar.heard.last == "end" }
                talk.upstreamEar.take(talk.upstreamEar.heard.count)
                talk.refuse()
                if isKept { talk.askedAgain(stream: 3) }
                if isKept { talk.refuse() }
                talk.callerHearsRefusal()
                #expect(talk.scene.skippedRetries("buffer") == (isKept ? 0 : 1))
            }
        }
    }

    @Test func `the trace says what was in the way`() {
        let log = TemporaryLog()
        let chain = "{log: {to: \(log.path)}}, {gate: {sees: [response end], retry: {response end: 1}}}"
        converse(chain, in: [.grpc], on: [.memory]) { talk in
            talk.ask()
            talk.respond()
            talk.reply("one")
            talk.fail("unauthenticated", "old", 16)
            talk.callerHears("head", "message one", "end unauthenticated old")
        }
        #expect(log.lines.count == 1)
        #expect(
            log.lines[0].contains(
                #"{"interceptor":"gate","event":"response_end","verdict":"retry_skipped","#
                    + #""reason":"part of the response has gone out""#
            ),
            "\(log.lines)"
        )
    }

    @Test func `the time of the configuration is over for every try`() {
        let yaml = """
            listeners: [{address: "127.0.0.1:8080", proxy_status: off}]
            upstreams: {u: {url: "h2c://127.0.0.1:9000", timeouts: {call: 1s}}}
            interceptors: [{gate: {sees: [response end], retry: {response end: 5}}}]
            """
        for style in Style.allCases {
            play(yaml) { scene in
                let talk = Conversation(scene, style)
                talk.ask()
                scene.pass(.milliseconds(500))
                talk.refuse()
                talk.askedAgain()
                scene.pass(.milliseconds(520))
                scene.until { talk.callerEar.heard.count >= 2 }
                #expect(
                    talk.callerEar.heard.last?.hasPrefix("end deadline_exceeded") == true,
                    "\(style) \(talk.callerEar.heard)"
                )
                #expect(scene.skippedRetries("deadline") == 1)
                talk.upstreamHears("reset CANCEL")
            }
        }
    }

    @Test(arguments: ["reset", "deadline"])
    func `what goes wrong with another try is told as ever`(_ fault: String) {
        converse("{name: a, gate: {}}, {gate: {sees: [response end], retry: {response end: 1}}}") { talk in
            talk.ask(talk.style.timeoutField)
            talk.refuse()
            talk.askedAgain()
            if fault == "reset" {
                talk.upstream.send(.reset(3, .internalError))
            } else {
                talk.scene.pass(.milliseconds(1020))
            }
            talk.scene.until { talk.callerEar.heard.count >= 2 }
            let end = fault == "reset" ? "end internal" : "end deadline_exceeded"
            let heard = talk.callerEar.heard
            #expect(heard.first == "head" && heard.last?.hasPrefix(end) == true, "\(talk.style) \(heard)")
            #expect(events("a", "response end", talk).last?.contains(end.dropFirst(4)) == true)
        }
    }

    // MARK: The head waits

    @Test func `a head that comes early waits for half a second and no longer`() {
        converse("{gate: {sees: [response end], retry: {response end: 0}}}", in: Style.streams) { talk in
            talk.ask()
            talk.respond()
            talk.scene.pass(.milliseconds(490))
            talk.callerHears()
            talk.scene.pass(.milliseconds(30))
            talk.callerHears("head")
            talk.reply("1")
            talk.conclude()
            talk.callerHears("message 1", "end ok")
        }
    }

    @Test func `a head goes out with the first message, and where nobody asks for retries at once`() {
        converse("{gate: {sees: [response end], retry: {response end: 0}}}", in: Style.streams) { talk in
            talk.ask()
            talk.respond()
            talk.callerHears()
            talk.reply("1")
            talk.callerHears("head", "message 1")
            talk.conclude()
            talk.callerHears("end ok")
        }
        converse("{gate: {sees: [response end]}}", in: Style.streams) { talk in
            talk.ask()
            talk.respond()
            talk.callerHears("head")
            talk.conclude()
            talk.callerHears("end ok")
        }
    }
}
