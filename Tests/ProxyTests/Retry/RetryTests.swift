import HTTP2Kit
import Testing
import Time

@testable import Proxy

/// Calls that an interceptor has retried: the response is dropped, and the request goes again.
@Suite struct RetryTests {
    private func chain(_ retry: String) -> String {
        "{name: a, gate: {}}, {name: b, gate: {retry: {\(retry)}}}, {name: c, gate: {}}"
    }

    private func events(_ name: String, _ kind: String, _ call: CallScript) -> [String] {
        call.harness.eventLog.events.filter { $0.hasPrefix("\(name) \(kind)") }.map { String($0.dropFirst(2)) }
    }

    @Test(arguments: ["response head", "response end"])
    func `a dropped response is not seen by the caller, nor by those before`(_ event: String) {
        runCall(chain("\(event): 1")) { call in
            call.ask()
            call.reject()
            call.askedAgain()
            call.settleWell()
            let good = ["response head", "response message 1 new", "response end ok"]
            // A head has come through the chain before its end; it waits only where it would go out.
            let dropped = event == "response end" ? ["response head"] : []
            #expect(events("a", "response", call) == dropped + good, "\(call.style)")
            #expect(events("c", "response", call).suffix(3) == good[...], "\(call.style)")
            #expect(events("c", "response head", call).count == 2)
            #expect(events("c", "request", call) == events("a", "request", call))
            for name in ["a", "b", "c"] {
                #expect(events(name, "finished", call) == ["finished ok by upstream"], "\(call.style)")
            }
            #expect(call.harness.retries("rule") == 1)
        }
    }

    @Test func `the first message can lead to another try, as nothing has gone out before it`() {
        runCall(chain("response message 1: 1")) { call in
            call.ask()
            call.respond()
            call.reply("old")
            call.conclude()
            call.askedAgain()
            call.settleWell()
            #expect(!call.harness.eventLog.events.contains { $0.hasPrefix("a ") && $0.hasSuffix("old") })
        }
    }

    @Test(arguments: ["response head", "response end"])
    func `a response that is only trailers is dropped as any other`(_ event: String) {
        runCall(chain("\(event): 1"), in: [.grpc]) { call in
            call.ask()
            call.respondOnly(("grpc-status", "16"))
            call.askedAgain()
            call.settleWell()
        }
    }

    @Test func `an interceptor asks as often as it likes, and a gRPC server hears how often`() {
        runCall("{gate: {sees: [response head, response end], retry: {response end: 2}}}") { call in
            call.ask()
            var received = [call.upstreamFrames.head["grpc-previous-rpc-attempts"]]
            for stream in [3, 5] {
                call.reject()
                call.askedAgain(stream: stream)
                received.append(call.upstreamFrames.head["grpc-previous-rpc-attempts"])
            }
            #expect(received == (call.style == .grpc ? [nil, "1", "2"] : [nil, nil, nil]))
            call.reject()
            call.callerSeesRejection()
            #expect(call.harness.retries("rule") == 2)
        }
    }

    @Test func `a call is tried 32 times at most`() {
        runCall("{gate: {retry: {response end: 100}}}", on: [.memory]) { call in
            call.ask()
            for attempt in 2...32 {
                call.reject()
                call.askedAgain(stream: 2 * attempt - 1)
            }
            call.reject()
            call.callerSeesRejection()
            #expect(call.harness.retries("rule") == 31)
            #expect(call.harness.skippedRetries("attempts") == 1)
            #expect(call.harness.eventLog.events.filter { $0.contains("finished") }.count == 1)
        }
    }

    // MARK: What is in the way

    @Test func `what has begun to go out is not taken back`() {
        runCall("{gate: {sees: [response end], retry: {response end: 1}}}", in: Style.streams) { call in
            call.ask()
            call.respond()
            call.reply("one")
            call.callerReceives("head", "message one")
            call.fail("unauthenticated", "old", 16)
            call.callerReceives("end unauthenticated old")
            call.expectSilence()
            #expect(call.harness.skippedRetries("delivered") == 1)
            #expect(call.harness.retries("rule") == 0)
        }
    }

    @Test func `a request that is too large to be kept goes once`() {
        runCall("{gate: {sees: [response end], retry: {response end: 1}}}", on: [.memory]) { call in
            let piece = String(repeating: "x", count: 12_000)
            call.begin()
            call.say(piece)
            // Unary requests may be held back, but only where somebody asks for their messages.
            call.accept()
            call.upstream.send(.window(0, 100_000), .window(1, 100_000))
            for count in 2...6 { call.say(piece, end: count == 6) }
            call.harness.until { call.upstreamFrames.received.last == "end" }
            call.upstreamFrames.remove(call.upstreamFrames.received.count)
            call.reject()
            call.callerSeesRejection()
            #expect(call.harness.skippedRetries("buffer") == 1)
        }
    }

    @Test func `how much of a request is kept is the upstream's limit`() {
        let chain = "{gate: {sees: [response end], retry: {response end: 1}}}"
        // The message has an envelope of five bytes.
        for (limit, isKept) in [("0", false), ("9B", false), ("10B", true)] {
            runCall(chain, in: [.grpc], on: [.memory], upstream: "limits: {retry_buffer: \(limit)}") { call in
                call.begin()
                call.say("hello", end: true)
                call.accept()
                call.harness.until { call.upstreamFrames.received.last == "end" }
                call.upstreamFrames.remove(call.upstreamFrames.received.count)
                call.reject()
                if isKept { call.askedAgain(stream: 3) }
                if isKept { call.reject() }
                call.callerSeesRejection()
                #expect(call.harness.skippedRetries("buffer") == (isKept ? 0 : 1))
            }
        }
    }

    @Test func `the trace says what was in the way`() {
        let log = TemporaryLog()
        let chain = "{log: {to: \(log.path)}}, {gate: {sees: [response end], retry: {response end: 1}}}"
        runCall(chain, in: [.grpc], on: [.memory]) { call in
            call.ask()
            call.respond()
            call.reply("one")
            call.fail("unauthenticated", "old", 16)
            call.callerReceives("head", "message one", "end unauthenticated old")
        }
        #expect(log.lines.count == 1)
        #expect(
            log.lines[0].contains(
                #"{"interceptor":"gate","event":"response_end","verdict":"retry_skipped","#
                    + #""reason":"part of the response has already been sent""#
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
            runProxy(yaml) { harness in
                let call = CallScript(harness, style)
                call.ask()
                harness.pass(.milliseconds(500))
                call.reject()
                call.askedAgain()
                harness.pass(.milliseconds(520))
                harness.until { call.callerFrames.received.count >= 2 }
                #expect(
                    call.callerFrames.received.last?.hasPrefix("end deadline_exceeded") == true,
                    "\(style) \(call.callerFrames.received)"
                )
                #expect(harness.skippedRetries("deadline") == 1)
                call.upstreamReceives("reset CANCEL")
            }
        }
    }

    @Test(arguments: ["reset", "deadline"])
    func `what goes wrong with another try is reported as ever`(_ fault: String) {
        runCall("{name: a, gate: {}}, {gate: {sees: [response end], retry: {response end: 1}}}") { call in
            call.ask(call.style.timeoutField)
            call.reject()
            call.askedAgain()
            if fault == "reset" {
                call.upstream.send(.reset(3, .internalError))
            } else {
                call.harness.pass(.milliseconds(1020))
            }
            call.harness.until { call.callerFrames.received.count >= 2 }
            let end = fault == "reset" ? "end internal" : "end deadline_exceeded"
            let received = call.callerFrames.received
            #expect(received.first == "head" && received.last?.hasPrefix(end) == true, "\(call.style) \(received)")
            #expect(events("a", "response end", call).last?.contains(end.dropFirst(4)) == true)
        }
    }

    // MARK: The head waits

    @Test func `a head that comes early waits for half a second and no longer`() {
        runCall("{gate: {sees: [response end], retry: {response end: 0}}}", in: Style.streams) { call in
            call.ask()
            call.respond()
            call.harness.pass(.milliseconds(490))
            call.callerReceives()
            call.harness.pass(.milliseconds(30))
            call.callerReceives("head")
            call.reply("1")
            call.conclude()
            call.callerReceives("message 1", "end ok")
        }
    }

    @Test func `a head goes out with the first message, and where nobody asks for retries at once`() {
        runCall("{gate: {sees: [response end], retry: {response end: 0}}}", in: Style.streams) { call in
            call.ask()
            call.respond()
            call.callerReceives()
            call.reply("1")
            call.callerReceives("head", "message 1")
            call.conclude()
            call.callerReceives("end ok")
        }
        runCall("{gate: {sees: [response end]}}", in: Style.streams) { call in
            call.ask()
            call.respond()
            call.callerReceives("head")
            call.conclude()
            call.callerReceives("end ok")
        }
    }
}
