import HTTP2Kit
import Testing
import Time

@testable import Proxy

/// Calls that a mock serves, byte by byte.
@Suite struct MockCallTests {
    private static let head = "1 HEADERS :status: 200 | content-type: application/grpc+json | x-trace: probe"

    /// A proxy with a mock `m` that has these rules of the method Say.
    private func configuration(_ rules: String, before: String = "", behind: String = "") -> String {
        """
        listeners: [{address: "127.0.0.1:8080", proxy_status: off, timeouts: {suspension: 5s}}]
        upstreams: {default: {url: "h2c://127.0.0.1:9000"}}
        mocks: {m: {methods: {Say: [\(rules)]}}}
        interceptors: [\(before){probe: {}}, {mock: {name: m, unmatched: next}}\(behind)]
        """
    }

    private static let user = #""user":{"id":1,"pin":"***"}}"#

    private func begin(_ harness: ProxyHarness, _ messages: String..., end: Bool = true) -> HTTP2Peer {
        let caller = harness.http2Caller()
        let body = messages.map { envelope($0) }.joined()
        caller.send(.say(1, "application/grpc+json"), .data(1, body, end: end))
        return caller
    }

    @Test(arguments: Transport.allCases)
    func `time passes between the steps of a script`(_ transport: Transport) {
        let last = "{send: {text: '{json:/a} {message.number}'}}"
        let steps = "{headers: {x-a: b}}, {send: {text: one}}, {wait: 200ms}, \(last)"
        runProxy(transport, configuration("{outputs: [\(steps)]}")) { harness in
            let caller = begin(harness, #"{"a":7}"#, #"{"a":8}"#)
            caller.expect(Self.head.replacing("x-trace", with: "x-a: b | x-trace"), "1 DATA \(envelope("one"))")
            harness.pass(.milliseconds(190))
            caller.expectNothing()
            harness.pass(.milliseconds(20))
            caller.expect("1 DATA \(envelope("7 1"))", "1 HEADERS/end grpc-status: 0")
        }
    }

    @Test(arguments: Transport.allCases)
    func `a caller that leaves ends what waits`(_ transport: Transport) {
        runProxy(transport, configuration("{script: [{expect: {}}, {wait: 1h}, {send: {text: x}}]}")) { harness in
            let caller = begin(harness, "{}", end: false)
            harness.settle()
            caller.send(.reset(1, .cancel))
            harness.settle()
            #expect(harness.eventLog.drain().contains { $0.contains("finished") })
            harness.pass(3600 * .second)
        }
    }

    @Test(arguments: [
        ("no {json:/password}", "no ***"), ("{json:/password}{json:/name}", "***bob"), ("no {json:/name}", "no bob"),
        ("no {json:/cards/0/number}", "no ***"), ("no {json:/cards/1/number}", "no ***"),
        ("no {json:/cards/0/kind}", "no visa"), ("no {json:/user}", #"no {"id":1,"pin":"***"}"#),
        ("no {json:/user/pin}", "no ***"), ("no {json:/user/pin/old}", "no%20"), ("no {json:/none}", "no%20"),
        ("{message.number} {json:/password}", "1 ***"), ("{{json:/password}}", "{json:/password}"),
        (
            "no {body}",
            #"no {"name":"bob","password":"***","cards":[{"number":"***","kind":"visa"},{"number":"***"}],"# + Self.user
        ),
    ])
    func `an error message of a mock has nothing that redact names`(_ text: String, _ message: String) {
        let redact = #"{redact: {json: [/password, "/cards/*/number", /user/pin]}}, "#
        let cards = #"[{"number":41,"kind":"visa"},{"number":42}]"#
        let body = #"{"name":"bob","password":"zecret","cards":\#(cards),"user":{"id":1,"pin":{"old":7}}}"#
        for before in ["", redact] {
            runProxy(configuration("{respond: {code: not_found, message: '\(text)'}}", before: before)) { harness in
                let end = begin(harness, body).next()
                #expect(end.contains("grpc-status: 5"))
                if before == redact { #expect(end.contains(" | grpc-message: \(message)"), "\(end)") }
                #expect(!before.isEmpty || !end.contains("***"))
                let recent = harness.worker.recent.all.map { String(decoding: $0.text, as: UTF8.self) }.joined()
                #expect(before.isEmpty || !recent.contains("zecret"))
            }
        }
    }

    @Test(arguments: Transport.allCases)
    func `a call goes on to the upstream if no rule is for its first message`(_ transport: Transport) {
        let rules = "{when: {json: {/a: 1}}, respond: {json: {b: 2}}}"
        runProxy(transport, configuration(rules, behind: ", {headers: {request: {set: {x-behind: '1'}}}}")) { harness in
            let body = envelope(#"{"b":2}"#)
            begin(harness, #"{"a":1}"#).expect(Self.head, "1 DATA \(body)", "1 HEADERS/end grpc-status: 0")
            let caller = begin(harness, #"{"a":2}"#)
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            #expect(upstream.next().contains("x-behind: 1"))
            upstream.expect("1 DATA/end \(envelope(#"{"a":2}"#))")
            upstream.send(.response(1, 200, ["content-type": "application/grpc+json"]))
            #expect(caller.next().hasPrefix("1 HEADERS"))
        }
    }

    @Test func `a call without any message waits for none`() {
        runProxy(configuration("{when: {json: {/a: 1}}, respond: {json: {b: 2}}}")) { harness in
            _ = begin(harness, "")
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            #expect(upstream.next().hasPrefix("1 HEADERS"))
        }
        runProxy(configuration("{when: {json: {/a: 1}}, respond: {json: {b: 2}}}")) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc+json"), .data(1, "", end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            #expect(upstream.next().hasPrefix("1 HEADERS"))
        }
    }

    @Test(arguments: [
        ("{json: [a, '{json:/a}', {b: 'x{json:/a}'}]}", #"["a",7,{"b":"x7"}]"#), ("{hex: '61 62'}", "ab"),
        ("{base64: YWI=}", "ab"), ("{echo: true}", #"{"a":7}"#), ("{text: '{{}} {method} {json:/no}'}", "{} Say "),
        ("{json: {c: '{json:/no}'}}", #"{"c":null}"#),
    ])
    func `a message is made of what came`(_ message: String, _ sent: String) {
        runProxy(configuration("{respond: \(message)}")) { harness in
            begin(harness, #"{"a":7}"#).expect(Self.head, "1 DATA \(envelope(sent))", "1 HEADERS/end grpc-status: 0")
        }
    }

    @Test func `a script that is broken off ends as an upstream would that goes away`() {
        runProxy(configuration("{script: [{send: {text: x}}, {reset: true}]}")) { harness in
            let caller = begin(harness, "{}")
            caller.expect(Self.head, "1 DATA \(envelope("x"))")
            #expect(caller.next().contains("grpc-status: 14"))
        }
    }

    @Test func `a request that breaks off in a message is an error`() {
        runProxy(configuration("{respond: {text: x}}")) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc+json"), .data(1, "\0\0\0\0\u{9}{", end: true))
            #expect(caller.next().contains("the request ends in the middle of a message"))
        }
    }

    @Test(arguments: Transport.allCases)
    func `a slow response comes bit by bit`(_ transport: Transport) {
        let rule = "{respond: {speed: 1000B, text: '\(String(repeating: "x", count: 995))'}}"
        runProxy(transport, configuration(rule)) { harness in
            let caller = begin(harness, "{}")
            harness.settle()
            caller.expectNothing()
            harness.pass(.milliseconds(100))
            #expect(caller.bodyBytes(1) < 100)
            for time in 2...10 {
                harness.pass(.milliseconds(100))
                #expect((time * 100 - 150...time * 100).contains(caller.bodyBytes(1)))
            }
            harness.pass(.milliseconds(150))
            #expect(caller.bodyBytes(1) == 1000)
        }
    }

    @Test(arguments: Transport.allCases)
    func `steps have their times since the start of the call`(_ transport: Transport) {
        let steps =
            "{send: {text: a}, at: 100ms}, {wait: 50ms}, {send: {text: b}, at: 120ms}, {send: {text: c}, at: 300ms}"
        runProxy(transport, configuration("{script: [\(steps)]}")) { harness in
            let caller = begin(harness, "{}")
            harness.pass(.milliseconds(90))
            caller.expectNothing()
            harness.pass(.milliseconds(20))
            caller.expect(Self.head, "1 DATA \(envelope("a"))")
            harness.pass(.milliseconds(30))
            caller.expectNothing()
            harness.pass(.milliseconds(40))
            caller.expect("1 DATA \(envelope("b"))")
            harness.pass(.milliseconds(150))
            caller.expect("1 DATA \(envelope("c"))", "1 HEADERS/end grpc-status: 0")
        }
    }
}
