import HTTP2Kit
import Proxy
import RPC
import Testing

/// Suspensions that end otherwise than by their release: by time-outs, and because the caller has gone.
@Suite struct SuspensionEndTests {
    private static let tooLong = "end deadline_exceeded interceptor a took longer than timeouts.suspension"
    private static let tooLate = "end deadline_exceeded request exceeded allowed timeout: …"
    private static let requestEvents = ["request head", "request message 1", "request end"]
    private static let responseEvents = ["response head", "response message 1", "response end"]

    /// Lets a call come to where this event is held.
    private func hold(_ talk: Conversation, _ event: String, _ fields: (String, String)...) {
        fields.isEmpty ? talk.begin() : talk.begin(fields[0])
        talk.say("hello", end: true)
        // A bare request goes out whole or not at all.
        let reaches = event.hasPrefix("response") || talk.style != .connectUnary && event != "request head"
        if reaches { talk.accept() }
        guard event.hasPrefix("response") else { return talk.scene.settle() }
        talk.upstreamHears("head", "message hello", "end")
        talk.respond()
        talk.reply("hi")
        talk.conclude()
        talk.scene.settle()
        #expect(talk.scene.gates["a"].events == [event])
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
    func `E5 what is never released ends the call in its time`(_ event: String) {
        converse("{name: a, gate: {hold: [\(event)]}}", listener: "timeouts: {suspension: 5s}") { talk in
            hold(talk, event)
            talk.scene.pass(.milliseconds(4900))
            let heard = talk.callerEar.heard
            #expect(!heard.contains { $0.hasPrefix("end") }, "\(talk.style)")
            talk.scene.pass(.milliseconds(200))
            talk.callerHears(all: before(event, talk.style) + [Self.tooLong])
            #expect(talk.scene.gates["a"].canceled == [event])
            let hits = talk.scene.metrics(#"martlet_limit_hits_total{limit="suspension"}"#)
            #expect(hits.first?.hasSuffix(" 1") == true)
            #expect(talk.scene.diary.take().filter { $0.contains("finished") }.count == 1)
        }
    }

    @Test func `E5 an end alone that is never released is told behind the messages`() {
        converse("{name: a, gate: {sees: [response end], hold: [response end]}}", in: Style.streams) { talk in
            talk.begin(end: true)
            talk.accept()
            talk.respond()
            talk.reply("1")
            talk.conclude()
            talk.callerHears("head", "message 1")
            talk.scene.pass(.seconds(31))
            talk.callerHears(Self.tooLong)
        }
    }

    @Test func `E5 a suspension that is released twice counts once`() {
        converse("{name: a, gate: {hold: [request head, response message]}}", in: Style.streams) { talk in
            talk.begin(end: true)
            let gate = talk.scene.gates["a"]
            gate.release()
            for suspension in gate.resumed { suspension.resume(.reject(RPCError(.aborted, "twice"))) }
            talk.accept()
            talk.upstreamHears("head", "end")
            talk.respond()
            talk.reply("1", "2")
            talk.callerHears("head")
            gate.release("response message 2")
            for suspension in gate.resumed { suspension.resume(.reject(RPCError(.aborted, "twice"))) }
            talk.expectSilence()
            gate.release()
            talk.callerHears("message 1", "message 2")
            for suspension in gate.resumed { suspension.resume() }
            talk.conclude()
            talk.callerHears("end ok")
            let late = talk.scene.metrics(#"martlet_interceptor_verdicts_total{interceptor="a",verdict="late"}"#)
            #expect(late.first?.hasSuffix(" 6") == true)
        }
    }

    @Test func `E5 a failure while the end that an interceptor has set waits ends the call`() {
        let chain =
            "{name: a, gate: {hold: [response end]}}, {name: b, gate: {reject: {response message 1: not_found}}}"
        converse(chain, listener: "timeouts: {suspension: 5s}") { talk in
            talk.begin()
            talk.say("hello", end: true)
            talk.accept()
            talk.respond()
            talk.reply("hi")
            talk.conclude()
            talk.scene.pass(.milliseconds(5100))
            talk.callerHears("head", Self.tooLong)
            #expect(talk.scene.livingCalls == 0)
        }
    }

    @Test(arguments: requestEvents + responseEvents)
    func `E8 a caller that gives up cancels what is held`(_ event: String) {
        converse("{name: a, gate: {hold: [\(event)]}}") { talk in
            hold(talk, event)
            talk.cancel()
            talk.scene.settle()
            #expect(talk.scene.gates["a"].canceled == [event], "\(talk.style)")
            #expect(talk.scene.diary.take().last == "a finished canceled by caller")
            #expect(talk.scene.livingCalls == 0)
            if event.hasPrefix("response") { return }
            guard talk.style != .connectUnary, event != "request head" else {
                #expect(talk.scene.upstream().connects == 0)
                return
            }
            let heard = talk.upstreamEar.heard
            #expect(heard.isEmpty || heard.last == "reset CANCEL", "\(talk.style) \(heard)")
        }
    }

    @Test func `E8 giving up overtakes everything that waits, on both ways`() {
        let chain =
            "{name: a, gate: {hold: [request message 2, response message]}}, {name: b, gate: {hold: [response end]}}"
        converse(chain, in: Style.streams) { talk in
            talk.begin()
            talk.accept()
            talk.say("1", "2", "3")
            talk.respond()
            talk.reply("1", "2")
            talk.scene.settle()
            let waiting = talk.scene.gates["a"].events
            #expect(waiting == ["request message 2", "response message 1", "response message 2"])
            talk.cancel()
            talk.upstreamHears("head", "message 1", "reset CANCEL")
            #expect(talk.scene.gates["a"].canceled == waiting)
            talk.scene.gates["a"].release()
            #expect(talk.scene.livingCalls == 0)
        }
    }

    @Test func `E8 a connection of HTTP 2 that breaks cancels what is held of all its calls`() {
        converse("{name: a, gate: {hold: [request head]}}") { talk in
            let other = Conversation(talk.scene, talk.style, of: talk.caller, stream: 3)
            talk.begin()
            other.begin()
            talk.scene.settle()
            talk.caller.peer.reset()
            talk.scene.until { talk.scene.livingCalls == 0 }
            #expect(talk.scene.gates["a"].canceled == ["request head", "request head"])
        }
    }

    @Test func `E5 an end that nothing may hold up cancels what hooks suspend of it`() {
        converse("{name: a, gate: {hold: [request head, response head, response end]}}") { talk in
            talk.begin(talk.style.timeoutField)
            talk.scene.pass(.milliseconds(1100))
            talk.callerHears("head", Self.tooLate)
            #expect(talk.scene.gates["a"].events == [])
            #expect(talk.scene.gates["a"].canceled == ["request head", "response head", "response end"])
        }
    }

    @Test func `E1 a held call goes on with the configuration that it began with`() {
        converse("{name: a, gate: {hold: [request head, response end]}}, {name: b, gate: {}}") { talk in
            talk.begin()
            talk.say("hello", end: true)
            talk.scene.settle()
            talk.scene.use("listen: 127.0.0.1:8080\ninterceptors: [{reject: {code: aborted}}]\n")
            talk.scene.gates["a"].release()
            talk.accept()
            talk.upstreamHears("head", "message hello", "end")
            talk.respond()
            talk.reply("hi")
            talk.conclude()
            talk.scene.settle()
            talk.scene.gates["a"].release()
            talk.callerHears("head", "message hi", "end ok")
            let next = Conversation(talk.scene, talk.style, of: talk.caller, stream: 3)
            next.begin()
            next.callerHears("head", "end aborted ")
        }
    }

    @Test(arguments: Stage.allCases)
    func `E8 a connection of HTTP 1 that closes cancels what is held`(_ stage: Stage) {
        play(stage, plain + "\ninterceptors: [{name: a, gate: {hold: [request head]}}]\n") { scene in
            let caller = scene.caller()
            caller.send(say)
            scene.settle()
            #expect(scene.gates["a"].events == ["request head"])
            caller.reset()
            scene.until { scene.livingCalls == 0 }
            #expect(scene.gates["a"].canceled == ["request head"])
            #expect(scene.upstream().connects == 0)
        }
    }

    @Test func `E9 the time in an interceptor is taken off what is left for the upstream`() {
        converse("{name: a, gate: {hold: [request head]}}") { talk in
            let (name, value) = talk.style.timeoutField
            talk.begin((name, value))
            talk.say("hello", end: true)
            talk.scene.pass(.milliseconds(400))
            talk.scene.gates["a"].release()
            talk.accept()
            talk.upstreamHears("head", "message hello", "end")
            let left = talk.upstreamEar.head[name] ?? ""
            #expect(["600", "600m", "600000u"].contains(left), "\(talk.style): \(left)")
        }
    }

    @Test(arguments: requestEvents + responseEvents)
    func `E9 the time of the caller goes on while an event is held`(_ event: String) {
        converse("{name: a, gate: {hold: [\(event)]}}") { talk in
            hold(talk, event, talk.style.timeoutField)
            talk.scene.pass(.milliseconds(990))
            #expect(talk.scene.livingCalls == 1)
            talk.scene.pass(.milliseconds(40))
            talk.callerHears(all: before(event, talk.style) + [Self.tooLate])
            #expect(talk.scene.gates["a"].canceled == [event])
            let ends = talk.scene.diary.take().filter { $0.contains("finished") }
            #expect(ends == ["a finished deadline_exceeded by martlet"])
        }
    }

    @Test(arguments: Stage.allCases)
    func `E10 fields keep their order and their doubles while heads are held`(_ stage: Stage) {
        play(stage, plain + "\ninterceptors: [{name: a, gate: {hold: [request head, response head]}}]\n") { scene in
            let caller = scene.caller()
            let fields = ["x-b: 2", "X-A: 1", "x-b: 1", "x-b: 2"]
            caller.send((["GET /p HTTP/1.1", "host: a"] + fields + ["", ""]).joined(separator: "\r\n"))
            scene.settle()
            scene.gates["a"].release()
            let upstream = scene.upstream().accept()
            let small = fields.map { $0.lowercased() }
            let sent = (["GET /p HTTP/1.1", "host: 127.0.0.1:9000"] + small + ["", ""]).joined(separator: "\r\n")
            upstream.expect(sent)
            upstream.send((["HTTP/1.1 200 OK"] + fields + ["content-length: 0", "", ""]).joined(separator: "\r\n"))
            scene.settle()
            scene.gates["a"].release()
            let response = (["HTTP/1.1 200 OK"] + small + ["content-length: 0", "", ""]).joined(separator: "\r\n")
            caller.expect(response)
        }
    }

    @Test func `E11 what was changed is sent once more as it was, and no hook runs again`() {
        converse("{name: a, gate: {upper: true}}", in: Style.streams) { talk in
            talk.begin()
            talk.say("hello", end: true)
            talk.accept()
            talk.upstreamHears("head", "message HELLO", "end")
            talk.upstream.send(.reset(1, .refused))
            talk.accept(on: talk.upstream, stream: 3)
            talk.upstreamHears("head", "message HELLO", "end")
            let seen = talk.scene.diary.take()
            #expect(seen == ["a request head", "a request message 1 hello", "a request end"])
        }
    }
}
