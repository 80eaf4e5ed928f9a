import Testing

@testable import Proxy

/// That whatever becomes of a call, it is counted and told of once; and which interceptors take part in it.
@Suite struct FateTests {
    private static let gate = "{metrics: {}}, {name: a, gate: "

    /// The call was counted once, with this code, and told of once to each.
    private func expectOneRecord(
        _ talk: Conversation,
        _ code: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        talk.scene.settle()
        let handled = talk.scene.metrics("martlet_rpc_handled_total").filter { !$0.hasSuffix(" 0") }
        let isRight = handled.count == 1 && handled[0].hasSuffix(#"code="\#(code)"} 1"#)
        #expect(isRight, "\(talk.style): \(handled)", sourceLocation: sourceLocation)
        #expect(
            talk.scene.metrics("martlet_rpc_in_flight") == ["martlet_rpc_in_flight 0"],
            sourceLocation: sourceLocation
        )
        let ends = talk.scene.diary.take().filter { $0.hasPrefix("a finished \(code)") }
        #expect(ends.count == 1, "\(talk.style)", sourceLocation: sourceLocation)
        #expect(talk.scene.livingCalls == 0, sourceLocation: sourceLocation)
    }

    private func respond(_ talk: Conversation) {
        talk.accept()
        talk.respond()
        talk.reply("hi")
        talk.conclude()
    }

    private func ask(_ talk: Conversation, _ fields: (String, String)...) {
        fields.isEmpty ? talk.begin() : talk.begin(fields[0])
        talk.say("hello", end: true)
    }

    @Test func `R9 a call that goes well is one record`() {
        converse(Self.gate + "{}}") { talk in
            ask(talk)
            respond(talk)
            expectOneRecord(talk, "ok")
        }
    }

    @Test(arguments: ["request head", "request message 1", "request end"])
    func `R9 a rejected request is one record`(_ event: String) {
        converse(Self.gate + "{reject: {\(event): aborted}}}") { talk in
            ask(talk)
            if event != "request head", talk.style != .connectUnary { talk.accept() }
            expectOneRecord(talk, "aborted")
        }
    }

    @Test(arguments: ["response head", "response message 1", "response end"])
    func `R9 a rejected response is one record`(_ event: String) {
        converse(Self.gate + "{reject: {\(event): aborted}}}") { talk in
            ask(talk)
            respond(talk)
            expectOneRecord(talk, "aborted")
        }
    }

    @Test(arguments: ["request head", "response head", "response end"])
    func `R9 a call that is given up while it is held is one record`(_ event: String) {
        converse(Self.gate + "{hold: [\(event)]}}") { talk in
            ask(talk)
            if event != "request head" { respond(talk) }
            talk.cancel()
            expectOneRecord(talk, "canceled")
        }
    }

    @Test(arguments: ["request head", "response head", "response end"])
    func `R9 a call whose time is over while it is held is one record`(_ event: String) {
        converse(Self.gate + "{hold: [\(event)]}}") { talk in
            ask(talk, talk.style.timeoutField)
            if event != "request head" { respond(talk) }
            talk.scene.pass(.milliseconds(1100))
            expectOneRecord(talk, "deadline_exceeded")
        }
    }

    @Test func `R9 a replaced end is one record with the code that the caller got`() {
        converse(Self.gate + "{end: resource_exhausted}}") { talk in
            ask(talk)
            respond(talk)
            expectOneRecord(talk, "resource_exhausted")
        }
    }

    @Test func `R9 an upstream that cannot be reached is one record`() {
        converse(Self.gate + "{}}", on: [.memory]) { talk in
            talk.scene.upstream().behaviour = .refuses
            ask(talk)
            expectOneRecord(talk, "unavailable")
        }
    }

    @Test func `R9 a response that breaks off is one record`() {
        converse(Self.gate + "{}}", in: Style.streams) { talk in
            ask(talk)
            talk.accept()
            talk.respond()
            talk.reply("hi")
            talk.callerHears("head", "message hi")
            talk.upstream.peer.reset()
            talk.scene.settle()
            let end = talk.callerEar.heard
            #expect(end.count == 1 && end[0].hasPrefix("end unavailable "), "\(talk.style): \(end)")
            expectOneRecord(talk, "unavailable")
        }
    }

    @Test func `R1 each call has an instance of its own that begins anew`() {
        converse("{name: a, gate: {}}", in: Style.streams) { talk in
            var upstream: HTTP2Peer?
            talk.scene.gates["a"].instances = 0
            for number in 0..<3 {
                let each = Conversation(talk.scene, talk.style, of: talk.caller, stream: 2 * number + 1)
                each.begin()
                each.say("x", "y", end: true)
                each.accept(on: upstream, stream: 2 * number + 1)
                upstream = each.upstream
                each.upstreamHears("head", "message x", "message y", "end")
            }
            let numbers = talk.scene.diary.take().filter { $0.contains("message") }
            #expect(numbers == (0..<3).flatMap { _ in ["a request message 1 x", "a request message 2 y"] })
            #expect(talk.scene.gates["a"].instances == 3)
        }
    }

    @Test func `R17 interceptors take part only in the calls of their shape`() {
        let chain = "{name: u, applies: unary, gate: {}}, {name: s, applies: [stream], gate: {}}"
        converse(chain) { talk in
            talk.scene.gates["u"].instances = 0
            ask(talk)
            respond(talk)
            talk.scene.settle()
            let isUnary = talk.style == .connectUnary
            let names = Set(talk.scene.diary.take().map { $0.prefix(1) })
            #expect(names == [isUnary ? "u" : "s"], "\(talk.style)")
            #expect(talk.scene.gates["u"].instances == (isUnary ? 1 : 0))
            #expect(talk.scene.gates["s"].instances == (isUnary ? 0 : 1))
        }
    }

    // MARK: Tokens

    private static let token =
        "token: {file: /run/token, on_failure: {code: unknown, message: auth token fetch failed}}"

    @Test func `R14 a token goes to the host that its condition names, behind what is held`() {
        converse("{name: a, gate: {hold: [request head]}}, {when: {host: 127.0.0.1}, \(Self.token)}") { talk in
            talk.scene.worker.updateToken("/run/token", Array("one".utf8))
            ask(talk)
            talk.scene.settle()
            talk.scene.worker.updateToken("/run/token", Array("two".utf8))
            talk.scene.gates["a"].release()
            talk.accept()
            talk.upstreamHears("head", "message hello", "end")
            #expect(talk.upstreamEar.head["authorization"] == "Bearer two")
        }
    }

    @Test func `R15 without a token the upstream is left alone, and a later one is taken`() {
        converse("{when: {host: 127.0.0.1}, \(Self.token)}") { talk in
            ask(talk)
            talk.callerHears("head", "end unknown auth token fetch failed")
            #expect(talk.scene.upstream().connects == 0)
            talk.scene.worker.updateToken("/run/token", Array("one".utf8))
            let second = Conversation(talk.scene, talk.style, of: talk.caller, stream: 3)
            ask(second)
            second.accept()
            second.upstreamHears("head", "message hello", "end")
            #expect(second.upstreamEar.head["authorization"] == "Bearer one")
        }
    }

    @Test func `R16 the host is that of the upstream, whatever the caller calls it`() {
        converse("{when: {host: app}, \(Self.token)}") { talk in
            talk.scene.worker.updateToken("/run/token", Array("one".utf8))
            ask(talk)
            talk.accept()
            talk.upstreamHears("head", "message hello", "end")
            #expect(talk.upstreamEar.head["authorization"] == nil)
        }
    }
}
