import Events
import HTTP2Kit
import Telemetry
import Testing

@testable import Proxy

/// Calls whose response waits for the word that they are tried again, and what happens meanwhile.
@Suite struct RetryWaitTests {
    private static let gate =
        "{name: b, gate: {sees: [response head, response end], hold: [response head], retry: {response head: 0}}}"

    private func gate(_ talk: Conversation) -> Door { talk.scene.gates["b"] }

    @Test func `what comes of the request while the response waits goes again with the rest`() {
        converse(Self.gate, in: Style.streams) { talk in
            talk.begin()
            talk.say("1")
            talk.accept()
            talk.upstreamHears("head", "message 1")
            talk.respond()
            talk.scene.settle()
            talk.say("2")
            talk.upstreamHears("message 2")
            gate(talk).release(nil, .retry(.rule))
            talk.upstreamHears("reset CANCEL")
            talk.accept(on: talk.upstream, stream: 3)
            talk.upstreamHears("head", "message 1", "message 2")
            talk.say("3", end: true)
            talk.upstreamHears("message 3", "end")
            talk.respond()
            talk.scene.settle()
            gate(talk).release()
            talk.reply("new")
            talk.conclude()
            talk.callerHears("head", "message new", "end ok")
        }
    }

    @Test func `likewise if the upstream has ended its response by then`() {
        converse(Self.gate, in: Style.streams) { talk in
            talk.begin()
            talk.say("1")
            talk.accept()
            talk.upstreamHears("head", "message 1")
            talk.refuse()
            talk.scene.settle()
            talk.say("2")
            talk.hangUp()
            talk.scene.settle()
            gate(talk).release(nil, .retry(.rule))
            talk.accept(on: talk.upstream, stream: 3)
            talk.upstreamHears("head", "message 1", "message 2", "end")
            talk.respondOnlyWell()
            talk.scene.settle()
            gate(talk).release()
            talk.callerHears("head", "end ok")
        }
    }

    @Test func `a caller that gives up while the response waits ends the call`() {
        converse(Self.gate) { talk in
            talk.ask()
            if talk.style == .connectUnary { talk.fail("aborted", "old", 10) } else { talk.respond() }
            talk.scene.settle()
            #expect(gate(talk).count == 1)
            talk.cancel()
            talk.scene.settle()
            #expect(gate(talk).canceled == ["response head"])
            #expect(talk.scene.diary.events.filter { $0.contains("finished") } == ["b finished canceled by caller"])
            #expect(talk.scene.retries("rule") == 0)
        }
    }

    @Test func `the caller's time is over while the response waits`() {
        converse(Self.gate) { talk in
            talk.ask(talk.style.timeoutField)
            talk.refuse()
            talk.scene.settle()
            talk.scene.pass(.milliseconds(1020))
            talk.scene.until { talk.callerEar.heard.count >= 2 }
            #expect(talk.callerEar.heard.last?.hasPrefix("end deadline_exceeded") == true, "\(talk.style)")
            #expect(gate(talk).canceled == ["response head"])
            #expect(talk.scene.diary.events.filter { $0.contains("finished") }.count == 1)
        }
    }

    @Test func `the caller's time is over before the word comes`() {
        let chain = "{name: b, gate: {sees: [response head], hold: [response head], retry: {response head: 0}}}"
        converse(chain, on: [.memory]) { talk in
            talk.ask(talk.style.timeoutField)
            talk.refuse()
            talk.scene.settle()
            // The clock has gone on within a turn, and the alarm has not rung yet.
            talk.scene.stopTelling()
            talk.scene.clock.now += 2_000_000_000
            talk.scene.startTelling()
            gate(talk).release(nil, .retry(.rule))
            talk.scene.settle()
            #expect(talk.callerEar.heard.last?.hasPrefix("end deadline_exceeded") == true, "\(talk.style)")
            #expect(talk.scene.retries("rule") == 0)
        }
    }

    // MARK: Responses of our own

    @Test func `a call whose upstream cannot be reached is tried again`() {
        converse(Self.gate) { talk in
            talk.scene.upstream().behaviour = .refuses
            talk.begin()
            talk.say("hello", end: true)
            talk.scene.settle()
            #expect(gate(talk).events == ["response head"])
            talk.scene.upstream().behaviour = .accepts
            talk.scene.pass(.seconds(5))
            gate(talk).release(nil, .retry(.rule))
            talk.accept()
            talk.upstreamHears("head", "message hello", "end")
            talk.respond()
            talk.scene.settle()
            gate(talk).release()
            talk.reply("new")
            talk.conclude()
            talk.callerHears("head", "message new", "end ok")
            #expect(talk.scene.diary.events.last == "b finished ok by upstream")
        }
    }

    @Test func `a request that goes on while a response of ours is under way is not sent without its rest`() {
        converse(Self.gate, in: Style.streams) { talk in
            talk.begin()
            talk.say("1")
            talk.accept()
            talk.upstreamHears("head", "message 1")
            talk.upstream.send(.reset(1, .internalError))
            talk.scene.settle()
            #expect(gate(talk).events == ["response head"])
            talk.hangUp()
            talk.scene.settle()
            gate(talk).release(nil, .retry(.rule))
            talk.scene.until { talk.callerEar.heard.count >= 2 }
            #expect(talk.callerEar.heard.last?.hasPrefix("end internal") == true, "\(talk.style)")
            #expect(talk.scene.skippedRetries("incomplete") == 1)
        }
    }

    @Test func `a response that breaks off while its head waits can be dropped, whatever held its source back`() {
        let chain =
            "{name: a, gate: {sees: [response head], hold: [response head]}}, "
            + "{name: b, gate: {sees: [response end], retry: {response end: 1}}}"
        converse(chain, in: [.grpc], listener: "limits: {held_events: 1}") { talk in
            talk.ask()
            talk.respond()
            talk.reply("1")
            talk.scene.settle()
            talk.reply("2")
            talk.scene.settle()
            talk.upstream.send(.reset(1, .internalError))
            talk.scene.settle()
            talk.askedAgain()
            talk.respond()
            talk.scene.settle()
            talk.scene.gates["a"].releaseAll()
            talk.reply("new")
            talk.conclude()
            talk.callerHears("head", "message new", "end ok")
        }
    }

    // MARK: HTTP/1.1

    @Test(arguments: Stage.allCases)
    func `an upstream of HTTP 1 gets the request on another connection`(_ stage: Stage) {
        play(stage, plain + "\ninterceptors: [{gate: {sees: [response head], retry: {response head: 1}}}]\n") { scene in
            let caller = scene.caller()
            caller.send(say)
            let first = scene.upstream().accept()
            first.expect(saidUpstream)
            first.send(http("HTTP/1.1 401 Unauthorized", "content-length: 1000", body: "not all of"))
            first.expectGone()
            let second = scene.upstream().accept()
            second.expect(saidUpstream)
            second.send(fine)
            caller.expect(fine)
            caller.send(say)
            second.expect(saidUpstream)
            second.send(fine)
            // The gate has its own count for each call.
            let third = scene.upstream().accept()
            third.expect(saidUpstream)
            third.send(fine)
            caller.expect(fine)
            caller.expectNothing()
        }
    }
}

extension Conversation {
    /// A response without messages that ends well.
    func respondOnlyWell() {
        respond()
        conclude()
    }
}
