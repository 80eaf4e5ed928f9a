import Testing

@testable import Proxy

/// Responses that rules fail or change.
@Suite struct ValidateTests {
    private static let legacy =
        "rules: [{when: {json: {/code: {not: 0}}}, fail: {code: failed_precondition, message: 'no: {json:/errorMsg}'}}]"

    @Test func `an error within a message becomes an error of RPC`() {
        runCall("{validate: {\(Self.legacy)}}", in: [.connectUnary, .grpc]) { call in
            call.begin()
            call.say("{}", end: true)
            call.accept()
            call.upstreamReceives("head", "message {}", "end")
            call.respond()
            call.reply(#"{"code":7,"errorMsg":"sold out"}"#)
            call.conclude()
            call.callerReceives("head", "end failed_precondition no: sold out")
        }
    }

    @Test func `what redact names is in no text that is made of a message`() {
        let log = TemporaryLog()
        let chain = "{log: {to: \(log.path)}}, {redact: {json: [/errorMsg]}}, {validate: {\(Self.legacy)}}"
        runCall(chain, in: [.connectUnary, .grpc]) { call in
            call.begin()
            call.say("{}", end: true)
            call.accept()
            call.upstreamReceives("head", "message {}", "end")
            call.respond()
            call.reply(#"{"code":7,"errorMsg":"s3cret"}"#)
            call.conclude()
            call.callerReceives("head", "end failed_precondition no: ***")
            let recent = call.harness.worker.recent.all.map { String(decoding: $0.text, as: UTF8.self) }
            #expect(recent.count == 1 && !recent[0].contains("s3cret"))
        }
        #expect(!log.lines.isEmpty && !log.lines.joined().contains("s3cret"))
    }

    @Test func `numbers are compared by their values`() {
        let values: KeyValuePairs = [
            "0.0": true, "-0": true, "0e3": true, "1": false, "0.1": false, "9223372036854775808": false,
        ]
        for (value, passes) in values {
            runCall("{validate: {\(Self.legacy)}}", in: [.connectUnary], on: [.memory]) { call in
                call.begin()
                call.say("{}", end: true)
                call.accept()
                call.respond()
                call.reply("{\"code\":\(value)}")
                call.conclude()
                if passes {
                    call.callerReceives("head", "message…", "end ok")
                } else {
                    call.callerReceives("head", "end…")
                }
            }
        }
    }

    @Test func `the response of an interceptor behind is judged, and an error that it makes is not`() {
        let rules =
            "validate: {rules: [{when: {json: {/a: 1}}, fail: {code: data_loss}}, {when: {code: aborted}, fail: {}}]}"
        runCall("{\(rules)}, {respond: {json: {a: 1}}}") { call in
            call.begin()
            call.say("{}", end: true)
            call.callerReceives("head", "end data_loss…")
        }
        let file = "respond: {headers: {content-type: application/json}, body: '{\"a\":1}'}"
        runProxy(plain + "\ninterceptors: [{\(rules)}, {\(file)}]") { harness in
            let caller = harness.caller()
            caller.send(http("GET /page HTTP/1.1", "host: app"))
            #expect(caller.head().hasPrefix("HTTP/1.1 500 "))
            #expect(String(decoding: caller.receiveAll(), as: UTF8.self).hasPrefix(#"{"code":"data_loss""#))
        }
        runCall("{\(rules)}, {unwind: true, reject: {code: aborted}}") { call in
            call.begin()
            call.say("{}", end: true)
            call.callerReceives("head", "end aborted…")
        }
    }

    @Test func `a message without an error passes as it is`() {
        runCall("{validate: {\(Self.legacy)}}", in: [.connectUnary, .grpc], gzip: true) { call in
            call.begin()
            call.say("{}", end: true)
            call.accept()
            call.upstreamReceives("head", "message* {}", "end")
            call.respond()
            call.reply(#"{"code":0}"#)
            call.conclude()
            call.callerReceives("head", #"message* {"code":0}"#, "end ok")
        }
    }

    @Test(arguments: Transport.allCases)
    func `an error within a body of plain HTTP becomes one`(_ transport: Transport) {
        runProxy(transport, validating(Self.legacy)) { harness in
            let caller = harness.caller()
            caller.send(get + get + get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            let body = #"{"code":7,"errorMsg":"sold out"}"#
            let json = "content-type: application/json"
            upstream.send(http("HTTP/1.1 200 OK", json, "content-length: \(body.utf8.count)", body: body))
            let head = caller.head()
            #expect(head.hasPrefix("HTTP/1.1 400 "), "\(head)")
            let length = head.components("content-length: ").last!.prefix { $0.isNumber }
            #expect(String(decoding: caller.receive(Int(length)!), as: UTF8.self).contains("no: sold out"))
            upstream.expect(gotUpstream)
            upstream.send(fine)
            caller.expect(fine)
            upstream.expect(gotUpstream)
            let text = http(
                "HTTP/1.1 200 OK",
                "content-type: text/plain",
                "content-length: \(body.utf8.count)",
                body: body
            )
            upstream.send(text)
            caller.expect(text)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a body of plain HTTP that has come without a byte is empty, whatever is asked before`(_ transport: Transport)
    {
        let first = "{when: {trailer: {x-bad: present}}, fail: {code: internal, message: bad}}"
        let rules = "rules: [\(first), {use: default, allow_empty: false}]"
        runProxy(transport, validating(rules)) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            let fields = ["content-type: application/json", "transfer-encoding: chunked"]
            upstream.send((["HTTP/1.1 200 OK"] + fields).joined(separator: "\r\n") + "\r\n\r\n0\r\n\r\n")
            let head = caller.head()
            #expect(!head.hasPrefix("HTTP/1.1 200 "), "\(head)")
        }
    }

    @Test func `the first rule that does not pass a response on decides, and continue asks those behind`() {
        let rules = """
            rules: [{when: {header: {x-a: '1'}}, next: {}}, {when: {status: 200}, continue: true, \
            replace: {headers: {set: {x-b: '2'}}}}, {when: {header: {x-b: '2'}}, fail: {code: aborted, message: b}}]
            """
        runProxy(validating(rules)) { harness in
            let caller = harness.caller()
            caller.send(get + get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            upstream.send(bare("200 OK", "x-a: 1"))
            caller.expect(bare("200 OK", "x-a: 1"))
            upstream.expect(gotUpstream)
            upstream.send(bare("200 OK"))
            #expect(caller.head().hasPrefix("HTTP/1.1 409 "))
        }
    }

    @Test func `a rule replaces the message and the head`() {
        let rules = "rules: [{when: {json: {/old: present}}, replace: {json: {new: 1}, headers: {set: {x-n: y}}}}]"
        runCall("{validate: {\(rules)}}", in: [.connectUnary]) { call in
            call.begin()
            call.say("{}", end: true)
            call.accept()
            call.respond()
            call.reply(#"{"old":1}"#)
            call.conclude()
            call.callerReceives("head", #"message {"new":1}"#, "end ok")
        }
    }

    @Test func `what is wrong with rules is said`() {
        #expect(problems("validate: {rules: []}") == ["the interceptor has no rule; add one to \"rules\""])
        #expect(
            problems("validate: {rules: [{when: {status: 500}, retry: {}}]}")
                == ["\"retry\" has no effect without \"max_retries\"; add for example max_retries: 3"]
        )
        #expect(
            problems("validate: {max_retries: 1, rules: [{retry: {delayed: 1s, fibonacci: {}}}]}")
                == ["\"delayed\" and \"fibonacci\" cannot be set together; write exactly one of them"]
        )
        #expect(
            problems("validate: {max_retries: 1, rules: [{retry: {set: {x-a: '{b}'}}}]}")
                == ["{b} is not captured; add it to \"capture\""]
        )
        #expect(
            problems("validate: {rules: [{when: {error: reset, status: 500}, fail: {}}]}")
                == [
                    "\"error\" matches calls without a complete response, so the other conditions cannot hold; write a separate rule for it"
                ]
        )
    }
}
