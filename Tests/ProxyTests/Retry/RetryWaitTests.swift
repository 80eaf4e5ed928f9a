import Events
import HTTP2Kit
import Telemetry
import Testing
import Time

@testable import Proxy

/// Calls whose response waits for the word that they are retried, and what happens meanwhile.
@Suite struct RetryWaitTests {
    private static let gate =
        "{name: b, gate: {sees: [response head, response end], hold: [response head], retry: {response head: 0}}}"

    private func gate(_ call: CallScript) -> SuspensionGate { call.harness.gates["b"] }

    @Test func `what comes of the request while the response waits goes again with the rest`() {
        runCall(Self.gate, in: Style.streams) { call in
            call.begin()
            call.say("1")
            call.accept()
            call.upstreamReceives("head", "message 1")
            call.respond()
            call.harness.settle()
            call.say("2")
            call.upstreamReceives("message 2")
            gate(call).release(nil, .retry(.rule))
            call.upstreamReceives("reset CANCEL")
            call.accept(on: call.upstream, stream: 3)
            call.upstreamReceives("head", "message 1", "message 2")
            call.say("3", end: true)
            call.upstreamReceives("message 3", "end")
            call.respond()
            call.harness.settle()
            gate(call).release()
            call.reply("new")
            call.conclude()
            call.callerReceives("head", "message new", "end ok")
        }
    }

    @Test func `likewise if the upstream has ended its response by then`() {
        runCall(Self.gate, in: Style.streams) { call in
            call.begin()
            call.say("1")
            call.accept()
            call.upstreamReceives("head", "message 1")
            call.reject()
            call.harness.settle()
            call.say("2")
            call.hangUp()
            call.harness.settle()
            gate(call).release(nil, .retry(.rule))
            call.accept(on: call.upstream, stream: 3)
            call.upstreamReceives("head", "message 1", "message 2", "end")
            call.respondOnlyWell()
            call.harness.settle()
            gate(call).release()
            call.callerReceives("head", "end ok")
        }
    }

    @Test func `a caller that gives up while the response waits ends the call`() {
        runCall(Self.gate) { call in
            call.ask()
            if call.style == .connectUnary { call.fail("aborted", "old", 10) } else { call.respond() }
            call.harness.settle()
            #expect(gate(call).count == 1)
            call.cancel()
            call.harness.settle()
            #expect(gate(call).canceled == ["response head"])
            #expect(
                call.harness.eventLog.events.filter { $0.contains("finished") } == ["b finished canceled by caller"]
            )
            #expect(call.harness.retries("rule") == 0)
        }
    }

    @Test func `the caller's time is over while the response waits`() {
        runCall(Self.gate) { call in
            call.ask(call.style.timeoutField)
            call.reject()
            call.harness.settle()
            call.harness.pass(.milliseconds(1020))
            call.harness.until { call.callerFrames.received.count >= 2 }
            #expect(call.callerFrames.received.last?.hasPrefix("end deadline_exceeded") == true, "\(call.style)")
            #expect(gate(call).canceled == ["response head"])
            #expect(call.harness.eventLog.events.filter { $0.contains("finished") }.count == 1)
        }
    }

    @Test func `the caller's time is over before the word comes`() {
        let chain = "{name: b, gate: {sees: [response head], hold: [response head], retry: {response head: 0}}}"
        runCall(chain, on: [.memory]) { call in
            call.ask(call.style.timeoutField)
            call.reject()
            call.harness.settle()
            // The clock has gone on within a turn, and the alarm has not rung yet.
            call.harness.stopReporting()
            call.harness.clock.now += .seconds(2)
            call.harness.startReporting()
            gate(call).release(nil, .retry(.rule))
            call.harness.settle()
            #expect(call.callerFrames.received.last?.hasPrefix("end deadline_exceeded") == true, "\(call.style)")
            #expect(call.harness.retries("rule") == 0)
        }
    }

    // MARK: Responses of our own

    @Test func `a call whose upstream cannot be reached is retried`() {
        runCall(Self.gate) { call in
            call.harness.upstream().behaviour = .rejects
            call.begin()
            call.say("hello", end: true)
            call.harness.settle()
            #expect(gate(call).events == ["response head"])
            call.harness.upstream().behaviour = .accepts
            call.harness.pass(.seconds(5))
            gate(call).release(nil, .retry(.rule))
            call.accept()
            call.upstreamReceives("head", "message hello", "end")
            call.respond()
            call.harness.settle()
            gate(call).release()
            call.reply("new")
            call.conclude()
            call.callerReceives("head", "message new", "end ok")
            #expect(call.harness.eventLog.events.last == "b finished ok by upstream")
        }
    }

    @Test func `a request that goes on while a response of ours is under way is not sent without its rest`() {
        runCall(Self.gate, in: Style.streams) { call in
            call.begin()
            call.say("1")
            call.accept()
            call.upstreamReceives("head", "message 1")
            call.upstream.send(.reset(1, .internalError))
            call.harness.settle()
            #expect(gate(call).events == ["response head"])
            call.hangUp()
            call.harness.settle()
            gate(call).release(nil, .retry(.rule))
            call.harness.until { call.callerFrames.received.count >= 2 }
            #expect(call.callerFrames.received.last?.hasPrefix("end internal") == true, "\(call.style)")
            #expect(call.harness.skippedRetries("incomplete") == 1)
        }
    }

    @Test func `a response that breaks off while its head waits can be dropped, whatever held its source back`() {
        let chain =
            "{name: a, gate: {sees: [response head], hold: [response head]}}, "
            + "{name: b, gate: {sees: [response end], retry: {response end: 1}}}"
        runCall(chain, in: [.grpc], listener: "limits: {held_events: 1}") { call in
            call.ask()
            call.respond()
            call.reply("1")
            call.harness.settle()
            call.reply("2")
            call.harness.settle()
            call.upstream.send(.reset(1, .internalError))
            call.harness.settle()
            call.askedAgain()
            call.respond()
            call.harness.settle()
            call.harness.gates["a"].releaseAll()
            call.reply("new")
            call.conclude()
            call.callerReceives("head", "message new", "end ok")
        }
    }

    // MARK: HTTP/1.1

    @Test(arguments: Transport.allCases)
    func `an upstream of HTTP 1 gets the request on another connection`(_ transport: Transport) {
        runProxy(transport, plain + "\ninterceptors: [{gate: {sees: [response head], retry: {response head: 1}}}]\n") {
            harness in
            let caller = harness.caller()
            caller.send(say)
            let first = harness.upstream().accept()
            first.expect(saidUpstream)
            first.send(http("HTTP/1.1 401 Unauthorized", "content-length: 1000", body: "not all of"))
            first.expectGone()
            let second = harness.upstream().accept()
            second.expect(saidUpstream)
            second.send(fine)
            caller.expect(fine)
            caller.send(say)
            second.expect(saidUpstream)
            second.send(fine)
            // The gate has its own count for each call.
            let third = harness.upstream().accept()
            third.expect(saidUpstream)
            third.send(fine)
            caller.expect(fine)
            caller.expectNothing()
        }
    }
}

extension CallScript {
    /// A response without messages that ends well.
    func respondOnlyWell() {
        respond()
        conclude()
    }
}
