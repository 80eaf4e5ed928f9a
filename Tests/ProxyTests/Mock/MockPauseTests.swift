import Configuration
import Documents
import HTTP2Kit
import Testing
import Time

@testable import Interceptors
@testable import Proxy

/// Pauses of mocks, of fixed and of random length.
@Suite struct MockPauseTests {
    private static func pause(_ text: String, into diagnostics: Diagnostics) throws -> MockPause {
        let node = try #require(YAML.parse(Array("{respond: {delay: \(text)}}".utf8), into: diagnostics))
        let rule = Section(node, MockSettings.ruleOptions, into: diagnostics)
        return MockPause(rule.section("respond").section("delay"))
    }

    @Test(
        arguments: [
            ("20ms", 0, 20), ("20ms", 0.9, 20), ("0s", 0.5, 0), ("{from: 20ms}", 0.5, 20), ("{to: 100ms}", 0, 0),
            ("{to: 100ms}", 0.25, 25), ("{from: 100ms, to: 200ms}", 0, 100), ("{from: 100ms, to: 200ms}", 0.5, 150),
            ("{from: 100ms, to: 200ms}", 0.99, 199), ("{from: 1s, to: 3s}", 0.75, 2500),
            ("{from: 5ms, to: 5ms}", 0.7, 5),
            ("{from: 0s, to: 1h}", 0.001, 3600),
        ] as [(String, Double, Int64)]
    )
    func `a pause lasts a time, or a random one of its range`(_ text: String, _ fraction: Double, _ length: Int64)
        throws
    {
        let diagnostics = Diagnostics()
        let pause = try Self.pause(text, into: diagnostics)
        #expect(diagnostics.isEmpty)
        #expect(pause.length(fraction).nanoseconds == length * 1_000_000)
    }

    @Test(arguments: [
        ("{respond: {text: a, delay: {each: 50ms}}}", [50]),
        ("{respond: {text: a, delay: {from: 100ms, each: 50ms}}}", [150]),
        ("{outputs: [{send: {text: a}}, {send: {text: b}}], delay: {each: 50ms}}", [50, 50]),
        ("{outputs: [{send: {text: a}}, {send: {text: b}}], delay: {from: 100ms, each: 50ms}}", [150, 50]),
        ("{outputs: [{send: {text: a}}, {wait: 100ms}, {send: {text: b}}], delay: {each: 50ms}}", [50, 150]),
        ("{emit: on_open, outputs: [{send: {text: a}}, {send: {text: b}}], delay: {each: 50ms}}", [50, 50]),
        ("{emit: after_close, outputs: [{send: {text: a}}, {send: {text: b}}], delay: {each: 50ms}}", [50, 50]),
        ("{emit: per_input, outputs: [{send: {text: a}}], delay: {each: 50ms}}", [50, 50]),
        ("{emit: per_input, outputs: [{send: {text: a}}], delay: {from: 100ms, each: 50ms}}", [150, 150]),
        ("{script: [{send: {text: a}}, {expect: {}}, {send: {text: b}}], delay: {each: 50ms}}", [50, 50]),
        ("{script: [{each: [{send: {text: a}}]}], delay: {from: 100ms, each: 50ms}}", [150, 50]),
        ("{script: [{send: {text: a}}, {wait: 100ms}, {send: {text: b}}], delay: {each: 50ms}}", [50, 150]),
    ])
    func `each message waits for its delay`(_ rule: String, _ pauses: [Int]) {
        let configuration = """
            listeners: [{address: "127.0.0.1:8080", proxy_status: off}]
            mocks: {m: {methods: {Say: [\(rule)]}}}
            interceptors: [{mock: m}]
            """
        runProxy(configuration) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc+json"), .data(1, envelope("{}") + envelope("{}"), end: true))
            harness.settle()
            for pause in pauses {
                var (lines, waited) = ([String](), 0)
                while lines.isEmpty, waited < 1000 {
                    harness.pass(.milliseconds(2))
                    (lines, waited) = (caller.rest(), waited + 2)
                }
                #expect(pause..<pause + 20 ~= waited)
                #expect(lines.contains { $0.hasPrefix("1 DATA") })
            }
        }
    }

    private static let expecting = "{expect: {json: {/a: 1}}}, {expect: {json: {/a: 2}}}, {send: {text: x}}"

    @Test(arguments: [
        "{script: [{wait: 50ms}, \(expecting)]}", "{when: {json: {/a: 1}}, script: [{wait: 50ms}, \(expecting)]}",
        "{script: [\(expecting)], delay: 50ms}",
        "{when: {json: {/a: 1}}, script: [{at: 50ms, signal: go}, \(expecting)]}",
        "{when: {json: {/a: 1}}, script: [{until: go}, \(expecting)]}",
    ])
    func `no message is lost while a script waits`(_ rule: String) {
        let configuration = """
            listeners: [{address: "127.0.0.1:8080", proxy_status: off}]
            mocks: {m: {methods: {Say: [{when: {json: {/a: 7}}, signal: go, respond: {}}, \(rule)]}}}
            interceptors: [{mock: m}]
            """
        runProxy(configuration) { harness in
            let caller = harness.http2Caller()
            let messages = [1, 2].map { envelope(#"{"a":\#($0)}"#) }.joined()
            caller.send(.say(1, "application/grpc+json"), .data(1, messages, end: true))
            harness.settle()
            let other = harness.http2Caller()
            other.send(.say(1, "application/grpc+json"), .data(1, envelope(#"{"a":7}"#), end: true))
            harness.pass(.milliseconds(80))
            #expect(caller.next().hasPrefix("1 HEADERS"))
            caller.expect("1 DATA \(envelope("x"))", "1 HEADERS/end grpc-status: 0")
        }
    }

    @Test(arguments: [
        ("{respond: {code: aborted, delay: {each: 50ms}}}", "1:41"),
        ("{respond: {fail: reset, delay: {from: 1s, each: 50ms}}}", "1:49"),
        ("{outputs: [{wait: 1s}], delay: {each: 50ms}}", "1:39"),
        ("{script: [{end: {}}], delay: {each: 50ms}}", "1:37"),
    ])
    func `a delay of each message needs one`(_ text: String, _ place: String) throws {
        let diagnostics = Diagnostics()
        let node = try #require(YAML.parse(Array(text.utf8), into: diagnostics))
        _ = MockRule(Section(node, MockSettings.ruleOptions, into: diagnostics), index: 0)
        let problem = "there is no message that \"each\" could delay; write \"from\", or add a message"
        #expect(diagnostics.sorted.map { "\($0.mark): \($0.message)" } == ["\(place): \(problem)"])
    }

    @Test func `a delay beside a response that has its own is an error`() throws {
        let diagnostics = Diagnostics()
        let node = try #require(YAML.parse(Array("{respond: {}, delay: 1s}".utf8), into: diagnostics))
        _ = MockRule(Section(node, MockSettings.ruleOptions, into: diagnostics), index: 0)
        let problem = "\"delay\" has no effect without \"outputs\" or \"script\"; add one of them, or remove it"
        #expect(diagnostics.sorted.map(\.message) == [problem])
    }

    @Test(arguments: [
        ("{from: 2s, to: 1s}", "\"to\" is less than \"from\"; write for example { from: 10ms, to: 50ms }"),
        ("{to: none}", "a pause cannot be \"none\"; write a time such as 50ms"),
        ("{each: {from: 2s, to: 1s}}", "\"to\" is less than \"from\"; write for example { from: 10ms, to: 50ms }"),
        ("{each: none}", "a pause cannot be \"none\"; write a time such as 50ms"),
        ("{from: none}", "a pause cannot be \"none\"; write a time such as 50ms"),
        ("none", "a pause cannot be \"none\"; write a time such as 50ms"),
    ])
    func `a pause that cannot be is an error`(_ text: String, _ message: String) throws {
        let diagnostics = Diagnostics()
        let node = try #require(YAML.parse(Array("{respond: {text: a, delay: \(text)}}".utf8), into: diagnostics))
        _ = MockRule(Section(node, MockSettings.ruleOptions, into: diagnostics), index: 0)
        #expect(diagnostics.sorted.map(\.message) == [message])
    }

    @Test(
        arguments: Transport.allCases,
        [
            "{respond: {text: x, delay: {from: 100ms, to: 200ms}}}",
            "{script: [{closed: true}, {wait: {from: 100ms, to: 200ms}}, {send: {text: x}}]}",
        ]
    )
    func `a call waits for a random time of the range`(_ transport: Transport, _ rule: String) {
        let configuration = """
            listeners: [{address: "127.0.0.1:8080", proxy_status: off}]
            mocks: {m: {methods: {Say: [\(rule)]}}}
            interceptors: [{mock: m}]
            """
        runProxy(transport, configuration) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc+json"), .data(1, envelope("{}"), end: true))
            harness.settle()
            harness.pass(.milliseconds(98))
            caller.expectNothing()
            harness.pass(.milliseconds(103))
            #expect(caller.next().hasPrefix("1 HEADERS"))
            caller.expect("1 DATA \(envelope("x"))", "1 HEADERS/end grpc-status: 0")
        }
    }
}
