import HTTP2Kit
import Proxy
import RPC
import Testing
import Time

/// Suspensions that end otherwise than by their release: by time-outs, and because the caller has gone.
@Suite struct SuspensionEndTests {
    private static let tooLong = "end deadline_exceeded interceptor a exceeded timeouts.suspension"
    private static let tooLate = "end deadline_exceeded request exceeded allowed timeout: …"
    private static let requestEvents = ["request head", "request message 1", "request end"]
    private static let responseEvents = ["response head", "response message 1", "response end"]

    /// Lets a call come to where this event is held.
    private func hold(_ call: CallScript, _ event: String, _ fields: (String, String)...) {
        fields.isEmpty ? call.begin() : call.begin(fields[0])
        call.say("hello", end: true)
        // A bare request goes out whole or not at all.
        let reaches = event.hasPrefix("response") || call.style != .connectUnary && event != "request head"
        if reaches { call.accept() }
        guard event.hasPrefix("response") else { return call.harness.settle() }
        call.upstreamReceives("head", "message hello", "end")
        call.respond()
        call.reply("hi")
        call.conclude()
        call.harness.settle()
        #expect(call.harness.gates["a"].events == [event])
    }

    /// What a caller hears of a response before this event.
    private func before(_ event: String, _ style: Style) -> [String] {
        guard style != .connectUnary else { return ["head"] }
        switch event {
        case "response message 1": return ["head"]
        case "response end": return ["head", "message hi"]
        default: return ["head"]
        }
    }

    @Test(arguments: requestEvents + responseEvents)
    func `what is never released ends the call in its time`(_ event: String) {
        runCall("{name: a, gate: {hold: [\(event)]}}", listener: "timeouts: {suspension: 5s}") { call in
            hold(call, event)
            call.harness.pass(.milliseconds(4900))
            let received = call.callerFrames.received
            #expect(!received.contains { $0.hasPrefix("end") }, "\(call.style)")
            call.harness.pass(.milliseconds(200))
            call.callerReceives(all: before(event, call.style) + [Self.tooLong])
            #expect(call.harness.gates["a"].canceled == [event])
            let hits = call.harness.metrics(#"martlet_limit_hits_total{limit="suspension"}"#)
            #expect(hits.first?.hasSuffix(" 1") == true)
            #expect(call.harness.eventLog.drain().filter { $0.contains("finished") }.count == 1)
        }
    }

    @Test func `an end alone that is never released is reported behind the messages`() {
        runCall("{name: a, gate: {sees: [response end], hold: [response end]}}", in: Style.streams) { call in
            call.begin(end: true)
            call.accept()
            call.respond()
            call.reply("1")
            call.conclude()
            call.callerReceives("head", "message 1")
            call.harness.pass(.seconds(31))
            call.callerReceives(Self.tooLong)
        }
    }

    @Test func `a suspension that is released twice counts once`() {
        runCall("{name: a, gate: {hold: [request head, response message]}}", in: Style.streams) { call in
            call.begin(end: true)
            let gate = call.harness.gates["a"]
            gate.release()
            for suspension in gate.resumed { suspension.resume(.reject(RPCError(.aborted, "twice"))) }
            call.accept()
            call.upstreamReceives("head", "end")
            call.respond()
            call.reply("1", "2")
            call.callerReceives("head")
            gate.release("response message 2")
            for suspension in gate.resumed { suspension.resume(.reject(RPCError(.aborted, "twice"))) }
            call.expectSilence()
            gate.release()
            call.callerReceives("message 1", "message 2")
            for suspension in gate.resumed { suspension.resume() }
            call.conclude()
            call.callerReceives("end ok")
            let late = call.harness.metrics(#"martlet_interceptor_verdicts_total{interceptor="a",verdict="late"}"#)
            #expect(late.first?.hasSuffix(" 6") == true)
        }
    }

    @Test func `a error while the end that an interceptor has set waits ends the call`() {
        let chain =
            "{name: a, gate: {hold: [response end]}}, {name: b, gate: {reject: {response message 1: not_found}}}"
        runCall(chain, listener: "timeouts: {suspension: 5s}") { call in
            call.begin()
            call.say("hello", end: true)
            call.accept()
            call.respond()
            call.reply("hi")
            call.conclude()
            call.harness.pass(.milliseconds(5100))
            call.callerReceives("head", Self.tooLong)
            #expect(call.harness.livingCalls == 0)
        }
    }

    @Test(arguments: requestEvents + responseEvents)
    func `a caller that gives up cancels what is held`(_ event: String) {
        runCall("{name: a, gate: {hold: [\(event)]}}") { call in
            hold(call, event)
            call.cancel()
            call.harness.settle()
            #expect(call.harness.gates["a"].canceled == [event], "\(call.style)")
            #expect(call.harness.eventLog.drain().last == "a finished canceled by caller")
            #expect(call.harness.livingCalls == 0)
            if event.hasPrefix("response") { return }
            guard call.style != .connectUnary, event != "request head" else {
                #expect(call.harness.upstream().connects == 0)
                return
            }
            let received = call.upstreamFrames.received
            #expect(received.isEmpty || received.last == "reset CANCEL", "\(call.style) \(received)")
        }
    }

    @Test func `giving up overtakes everything that waits, in both directions`() {
        let chain =
            "{name: a, gate: {hold: [request message 2, response message]}}, {name: b, gate: {hold: [response end]}}"
        runCall(chain, in: Style.streams) { call in
            call.begin()
            call.accept()
            call.say("1", "2", "3")
            call.respond()
            call.reply("1", "2")
            call.harness.settle()
            let waiting = call.harness.gates["a"].events
            #expect(waiting == ["request message 2", "response message 1", "response message 2"])
            call.cancel()
            call.upstreamReceives("head", "message 1", "reset CANCEL")
            #expect(call.harness.gates["a"].canceled == waiting)
            call.harness.gates["a"].release()
            #expect(call.harness.livingCalls == 0)
        }
    }

    @Test func `a connection of HTTP 2 that breaks cancels what is held of all its calls`() {
        runCall("{name: a, gate: {hold: [request head]}}") { call in
            let other = CallScript(call.harness, call.style, of: call.caller, stream: 3)
            call.begin()
            other.begin()
            call.harness.settle()
            call.caller.peer.reset()
            call.harness.until { call.harness.livingCalls == 0 }
            #expect(call.harness.gates["a"].canceled == ["request head", "request head"])
        }
    }

    @Test func `an end that nothing may hold up cancels what hooks suspend of it`() {
        runCall("{name: a, gate: {hold: [request head, response head, response end]}}") { call in
            call.begin(call.style.timeoutField)
            call.harness.pass(.milliseconds(1100))
            call.callerReceives("head", Self.tooLate)
            #expect(call.harness.gates["a"].events == [])
            #expect(call.harness.gates["a"].canceled == ["request head", "response head", "response end"])
        }
    }

    @Test func `a held call goes on with the configuration that it began with`() {
        runCall("{name: a, gate: {hold: [request head, response end]}}, {name: b, gate: {}}") { call in
            call.begin()
            call.say("hello", end: true)
            call.harness.settle()
            call.harness.use("listen: 127.0.0.1:8080\ninterceptors: [{reject: {code: aborted}}]\n")
            call.harness.gates["a"].release()
            call.accept()
            call.upstreamReceives("head", "message hello", "end")
            call.respond()
            call.reply("hi")
            call.conclude()
            call.harness.settle()
            call.harness.gates["a"].release()
            call.callerReceives("head", "message hi", "end ok")
            let next = CallScript(call.harness, call.style, of: call.caller, stream: 3)
            next.begin()
            next.callerReceives("head", "end aborted ")
        }
    }

    @Test(arguments: Transport.allCases)
    func `a connection of HTTP 1 that closes cancels what is held`(_ transport: Transport) {
        runProxy(transport, plain + "\ninterceptors: [{name: a, gate: {hold: [request head]}}]\n") { harness in
            let caller = harness.caller()
            caller.send(say)
            harness.settle()
            #expect(harness.gates["a"].events == ["request head"])
            caller.reset()
            harness.until { harness.livingCalls == 0 }
            #expect(harness.gates["a"].canceled == ["request head"])
            #expect(harness.upstream().connects == 0)
        }
    }

    @Test func `the time in an interceptor is taken off what is left for the upstream`() {
        runCall("{name: a, gate: {hold: [request head]}}") { call in
            let (name, value) = call.style.timeoutField
            call.begin((name, value))
            call.say("hello", end: true)
            call.harness.pass(.milliseconds(400))
            call.harness.gates["a"].release()
            call.accept()
            call.upstreamReceives("head", "message hello", "end")
            let left = call.upstreamFrames.head[name] ?? ""
            #expect(["600", "600m", "600000u"].contains(left), "\(call.style): \(left)")
        }
    }

    @Test(arguments: requestEvents + responseEvents)
    func `the time of the caller goes on while an event is held`(_ event: String) {
        runCall("{name: a, gate: {hold: [\(event)]}}") { call in
            hold(call, event, call.style.timeoutField)
            call.harness.pass(.milliseconds(990))
            #expect(call.harness.livingCalls == 1)
            call.harness.pass(.milliseconds(40))
            call.callerReceives(all: before(event, call.style) + [Self.tooLate])
            #expect(call.harness.gates["a"].canceled == [event])
            let ends = call.harness.eventLog.drain().filter { $0.contains("finished") }
            #expect(ends == ["a finished deadline_exceeded by martlet"])
        }
    }

    @Test(arguments: Transport.allCases)
    func `fields keep their order and their doubles while heads are held`(_ transport: Transport) {
        runProxy(transport, plain + "\ninterceptors: [{name: a, gate: {hold: [request head, response head]}}]\n") {
            harness in
            let caller = harness.caller()
            let fields = ["x-b: 2", "X-A: 1", "x-b: 1", "x-b: 2"]
            caller.send((["GET /p HTTP/1.1", "host: a"] + fields + ["", ""]).joined(separator: "\r\n"))
            harness.settle()
            harness.gates["a"].release()
            let upstream = harness.upstream().accept()
            let small = fields.map { $0.lowercased() }
            let sent = (["GET /p HTTP/1.1", "host: 127.0.0.1:9000"] + small + ["", ""]).joined(separator: "\r\n")
            upstream.expect(sent)
            upstream.send((["HTTP/1.1 200 OK"] + fields + ["content-length: 0", "", ""]).joined(separator: "\r\n"))
            harness.settle()
            harness.gates["a"].release()
            let response = (["HTTP/1.1 200 OK"] + small + ["content-length: 0", "", ""]).joined(separator: "\r\n")
            caller.expect(response)
        }
    }

    @Test func `what was changed is retried as it was, and no hook runs again`() {
        runCall("{name: a, gate: {upper: true}}", in: Style.streams) { call in
            call.begin()
            call.say("hello", end: true)
            call.accept()
            call.upstreamReceives("head", "message HELLO", "end")
            call.upstream.send(.reset(1, .rejected))
            call.accept(on: call.upstream, stream: 3)
            call.upstreamReceives("head", "message HELLO", "end")
            let seen = call.harness.eventLog.drain()
            #expect(seen == ["a request head", "a request message 1 hello", "a request end"])
        }
    }
}
