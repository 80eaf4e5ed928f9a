import Testing
import Time

@testable import Proxy

/// That whatever becomes of a call, it is counted and told of once; and which interceptors take part in it.
@Suite struct FateTests {
    private static let gate = "{metrics: {}}, {name: a, gate: "

    /// The call was counted once, with this code, and told of once to each.
    private func expectOneRecord(
        _ call: CallScript,
        _ code: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        call.harness.settle()
        let handled = call.harness.metrics("martlet_rpc_handled_total").filter { !$0.hasSuffix(" 0") }
        let isRight = handled.count == 1 && handled[0].hasSuffix(#"code="\#(code)"} 1"#)
        #expect(isRight, "\(call.style): \(handled)", sourceLocation: sourceLocation)
        #expect(
            call.harness.metrics("martlet_rpc_in_flight") == ["martlet_rpc_in_flight 0"],
            sourceLocation: sourceLocation
        )
        let ends = call.harness.eventLog.drain().filter { $0.hasPrefix("a finished \(code)") }
        #expect(ends.count == 1, "\(call.style)", sourceLocation: sourceLocation)
        #expect(call.harness.livingCalls == 0, sourceLocation: sourceLocation)
    }

    private func respond(_ call: CallScript) {
        call.accept()
        call.respond()
        call.reply("hi")
        call.conclude()
    }

    private func ask(_ call: CallScript, _ fields: (String, String)...) {
        fields.isEmpty ? call.begin() : call.begin(fields[0])
        call.say("hello", end: true)
    }

    @Test func `a call that goes well is one record`() {
        runCall(Self.gate + "{}}") { call in
            ask(call)
            respond(call)
            expectOneRecord(call, "ok")
        }
    }

    @Test(arguments: ["request head", "request message 1", "request end"])
    func `a rejected request is one record`(_ event: String) {
        runCall(Self.gate + "{reject: {\(event): aborted}}}") { call in
            ask(call)
            if event != "request head", call.style != .connectUnary { call.accept() }
            expectOneRecord(call, "aborted")
        }
    }

    @Test(arguments: ["response head", "response message 1", "response end"])
    func `a rejected response is one record`(_ event: String) {
        runCall(Self.gate + "{reject: {\(event): aborted}}}") { call in
            ask(call)
            respond(call)
            expectOneRecord(call, "aborted")
        }
    }

    @Test(arguments: ["request head", "response head", "response end"])
    func `a call that is given up while it is held is one record`(_ event: String) {
        runCall(Self.gate + "{hold: [\(event)]}}") { call in
            ask(call)
            if event != "request head" { respond(call) }
            call.cancel()
            expectOneRecord(call, "canceled")
        }
    }

    @Test(arguments: ["request head", "response head", "response end"])
    func `a call whose time is over while it is held is one record`(_ event: String) {
        runCall(Self.gate + "{hold: [\(event)]}}") { call in
            ask(call, call.style.timeoutField)
            if event != "request head" { respond(call) }
            call.harness.pass(.milliseconds(1100))
            expectOneRecord(call, "deadline_exceeded")
        }
    }

    @Test func `a replaced end is one record with the code that the caller got`() {
        runCall(Self.gate + "{end: resource_exhausted}}") { call in
            ask(call)
            respond(call)
            expectOneRecord(call, "resource_exhausted")
        }
    }

    @Test func `an upstream that cannot be reached is one record`() {
        runCall(Self.gate + "{}}", on: [.memory]) { call in
            call.harness.upstream().behaviour = .rejects
            ask(call)
            expectOneRecord(call, "unavailable")
        }
    }

    @Test func `a response that breaks off is one record`() {
        runCall(Self.gate + "{}}", in: Style.streams) { call in
            ask(call)
            call.accept()
            call.respond()
            call.reply("hi")
            call.callerReceives("head", "message hi")
            call.upstream.peer.reset()
            call.harness.settle()
            let end = call.callerFrames.received
            #expect(end.count == 1 && end[0].hasPrefix("end unavailable "), "\(call.style): \(end)")
            expectOneRecord(call, "unavailable")
        }
    }

    @Test func `each call has a state of its own that begins anew`() {
        runCall("{name: a, gate: {}}", in: Style.streams) { call in
            var upstream: HTTP2Peer?
            call.harness.gates["a"].calls = 0
            for number in 0..<3 {
                let each = CallScript(call.harness, call.style, of: call.caller, stream: 2 * number + 1)
                each.begin()
                each.say("x", "y", end: true)
                each.accept(on: upstream, stream: 2 * number + 1)
                upstream = each.upstream
                each.upstreamReceives("head", "message x", "message y", "end")
            }
            let numbers = call.harness.eventLog.drain().filter { $0.contains("message") }
            #expect(numbers == (0..<3).flatMap { _ in ["a request message 1 x", "a request message 2 y"] })
            #expect(call.harness.gates["a"].calls == 3)
        }
    }

    @Test func `interceptors take part only in the calls of their shape`() {
        let chain = "{name: u, applies: unary, gate: {}}, {name: s, applies: [stream], gate: {}}"
        runCall(chain) { call in
            call.harness.gates["u"].calls = 0
            ask(call)
            respond(call)
            call.harness.settle()
            let isUnary = call.style == .connectUnary
            let names = Set(call.harness.eventLog.drain().map { $0.prefix(1) })
            #expect(names == [isUnary ? "u" : "s"], "\(call.style)")
            #expect(call.harness.gates["u"].calls == (isUnary ? 1 : 0))
            #expect(call.harness.gates["s"].calls == (isUnary ? 0 : 1))
        }
    }

    // MARK: Tokens

    private static let token =
        "token: {file: /run/token, on_error: {code: unknown, message: auth token fetch failed}}"

    @Test func `a token goes to the host that its condition names, behind what is held`() {
        runCall("{name: a, gate: {hold: [request head]}}, {when: {host: app}, \(Self.token)}") { call in
            call.harness.worker.updateToken("/run/token", Array("one".utf8))
            ask(call)
            call.harness.settle()
            call.harness.worker.updateToken("/run/token", Array("two".utf8))
            call.harness.gates["a"].release()
            call.accept()
            call.upstreamReceives("head", "message hello", "end")
            #expect(call.upstreamFrames.head["authorization"] == "Bearer two")
        }
    }

    @Test func `without a token the upstream is left alone, and a later one is taken`() {
        runCall("{when: {host: app}, \(Self.token)}") { call in
            ask(call)
            call.callerReceives("head", "end unknown auth token fetch failed")
            #expect(call.harness.upstream().connects == 0)
            call.harness.worker.updateToken("/run/token", Array("one".utf8))
            let second = CallScript(call.harness, call.style, of: call.caller, stream: 3)
            ask(second)
            second.accept()
            second.upstreamReceives("head", "message hello", "end")
            #expect(second.upstreamFrames.head["authorization"] == "Bearer one")
        }
    }

    @Test func `the host of a condition is the one that the caller names, not that of the upstream`() {
        runCall("{when: {host: 127.0.0.1}, \(Self.token)}") { call in
            call.harness.worker.updateToken("/run/token", Array("one".utf8))
            ask(call)
            call.accept()
            call.upstreamReceives("head", "message hello", "end")
            #expect(call.upstreamFrames.head["authorization"] == nil)
        }
    }
}
