import HTTP2Kit
import Testing

@testable import Proxy

/// Rules for headers and trailers that are for some outcomes only.
@Suite struct CodedFieldTests {
    private static let rules = "headers: {response: {set: {x-b: '1'}}, trailers: {set: {x-t: '1'}}}"
    private static let errors = "{when: {code: [aborted, unavailable]}, applies: unary, \(rules)}"
    private static let successes = "{when: {code: ok}, applies: unary, \(rules)}"

    private func ask(_ call: CallScript) {
        call.begin()
        call.say("{}", end: true)
        call.accept()
        call.upstreamReceives("head", "message {}", "end")
    }

    private func expectRules(_ hold: Bool, _ call: CallScript, sourceLocation: SourceLocation = #_sourceLocation) {
        let found = [call.callerFrames.head["x-b"], call.callerFrames.trailers["x-t"]]
        #expect(found == (hold ? ["1", "1"] : [nil, nil]), sourceLocation: sourceLocation)
    }

    @Test func `rules for an error change its head and its trailers, and those of no success`() {
        runCall(Self.errors, in: [.connectUnary]) { call in
            ask(call)
            call.fail("aborted", "no", 10, status: 409)
            call.callerReceives("head", "end aborted no")
            expectRules(true, call)
        }
        runCall(Self.errors, in: [.connectUnary]) { call in
            ask(call)
            call.respond()
            call.reply("hi")
            call.conclude()
            call.callerReceives("head", "message hi", "end ok")
            expectRules(false, call)
        }
    }

    @Test func `the outcome is the one that the interceptors behind have made`() {
        let fails = "{validate: {rules: [{when: {json: {/a: 1}}, fail: {code: aborted, message: bad}}]}}"
        for (chain, holds) in [("\(Self.errors), \(fails)", true), ("\(Self.successes), \(fails)", false)] {
            runCall(chain, in: [.connectUnary]) { call in
                ask(call)
                call.respond()
                call.reply(#"{"a":1}"#)
                call.conclude()
                call.callerReceives("head", "end aborted bad")
                expectRules(holds, call)
            }
        }
    }

    @Test func `rules for a success hold however large the message is`() {
        let large = String(repeating: "x", count: 3000)
        runCall(Self.successes, in: [.connectUnary], listener: "limits: {held_message: 1KiB}") { call in
            ask(call)
            call.respond()
            call.reply(large)
            call.conclude()
            call.callerReceives("head", "message \(large)", "end ok")
            expectRules(true, call)
        }
    }

    @Test func `trailers get their rules also where something else waits for the end`() {
        let chain =
            "{headers: {trailers: {set: {x-t: '1'}}}}, {validate: {rules: [{when: {trailer: {x-n: present}}, fail: {}}]}}"
        let large = String(repeating: "x", count: 3000)
        runCall(chain, in: [.connectUnary], listener: "limits: {held_message: 1KiB}") { call in
            ask(call)
            call.respond()
            call.reply(large)
            call.conclude()
            call.callerReceives("head", "message \(large)", "end ok")
            #expect(call.callerFrames.trailers["x-t"] == "1")
        }
    }

    @Test func `a rule about a trailer of unary Connect holds however large the message is`() {
        let chain = "{validate: {rules: [{when: {trailer: {x-n: present}}, fail: {code: aborted, message: bad}}]}}"
        runCall(chain, in: [.connectUnary], listener: "limits: {held_message: 1KiB}") { call in
            ask(call)
            call.respond(("trailer-x-n", "1"))
            call.reply(String(repeating: "x", count: 3000))
            call.conclude()
            call.callerReceives("head", "end aborted bad")
        }
    }

    @Test func `a body of plain HTTP that is too large to be held gets its rules, too`() {
        let looks = "{validate: {rules: [{when: {json: {/zzz: present}}, fail: {}}]}}"
        let yaml = """
            listeners: [{address: "127.0.0.1:8080", proxy_status: off, limits: {held_message: 1KiB}}]
            upstream: http://127.0.0.1:9000
            interceptors: [\(Self.successes), \(looks)]
            """
        runProxy(yaml) { harness in
            let caller = harness.caller()
            caller.send(http("GET /page HTTP/1.1", "host: app", "te: trailers"))
            let upstream = harness.upstream().accept()
            _ = upstream.head()
            let body = "\"\(String(repeating: "x", count: 0xffe))\""
            let head = http("HTTP/1.1 200 OK", "content-type: application/json", "transfer-encoding: chunked")
            upstream.send("\(head)1000\r\n\(body)\r\n0\r\nx-u: 1\r\n\r\n")
            #expect(caller.head().contains("x-b: 1\r\n"))
            harness.settle()
            let rest = String(decoding: caller.receiveAll(), as: UTF8.self)
            #expect(rest.contains(body) && rest.hasSuffix("0\r\nx-u: 1\r\nx-t: 1\r\n\r\n"))
        }
    }

    @Test func `in plain HTTP the status is the outcome`() {
        for (status, chain) in [("503 Unavailable", Self.errors), ("200 OK", Self.successes)] {
            runProxy(plain + "\ninterceptors: [\(chain)]") { harness in
                let caller = harness.caller()
                caller.send(http("GET /page HTTP/1.1", "host: app"))
                harness.upstream().accept()
                    .send(after: http("GET /page HTTP/1.1", "host: 127.0.0.1:9000"), bare(status))
                #expect(caller.head().contains("x-b: 1\r\n"))
            }
        }
        runProxy(plain + "\ninterceptors: [\(Self.errors)]") { harness in
            harness.upstream().behaviour = .rejects
            let caller = harness.caller()
            caller.send(http("GET /page HTTP/1.1", "host: app"))
            #expect(caller.head().contains("x-b: 1\r\n"))
        }
    }
}

extension ScriptedPeer {
    /// Sends a response when the request has come.
    fileprivate func send(after request: String, _ response: String) {
        expect(request)
        send(response)
    }
}
