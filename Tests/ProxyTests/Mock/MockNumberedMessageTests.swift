import Configuration
import Documents
import HTTP2Kit
import Testing

@testable import Interceptors
@testable import Proxy

/// Values of messages by their number.
@Suite struct MockNumberedMessageTests {
    private static func configuration(_ rule: String) -> String {
        """
        listeners: [{address: "127.0.0.1:8080", proxy_status: off}]
        upstreams: {default: {url: "h2c://127.0.0.1:9000"}}
        mocks: {m: {methods: {Say: [\(rule)]}}}
        interceptors: [{redact: {json: [/pin]}}, {mock: {name: m, unmatched: next}}]
        """
    }

    private static let request = [#"{"a":1,"b":"x","pin":7}"#, #"{"a":2}"#, #"{"a":[3]}"#].map { envelope($0) }.joined()

    @Test(arguments: [
        ("{json:1:/a}", "1"), ("{json:2:/a}", "2"), ("{json:3:/a}", "[3]"), ("{json:/a}", "[3]"),
        ("{json:1:/b}", #""x""#), ("x{json:1:/a}", #""x1""#), ("{json:1:/a}{json:2:/a}", #""12""#),
        ("{json:2:/b}", "null"), ("x{json:2:/b}", #""x""#), ("{json:3:/a/0}", "3"), ("{json:2:}", #"{"a":2}"#),
        ("{json:1:/b} {json:/a/0} {message.number}", #""x 3 3""#), ("{json:4:/a}", "null"), ("{json:1:/pin}", "7"),
    ])
    func `a text has values of a message by its number`(_ text: String, _ sent: String) {
        let send = "json: '\(text)'"
        let rules = [
            "{respond: {\(send)}}", "{when: {json: {/a: 1}}, respond: {\(send)}}",
            "{script: [{expect: {}}, {expect: {}}, {expect: {}}, {send: {\(send)}}]}",
        ]
        for rule in rules {
            runProxy(Self.configuration(rule)) { harness in
                let caller = harness.http2Caller()
                caller.send(.say(1, "application/grpc+json"), .data(1, Self.request, end: true))
                #expect(caller.next().hasPrefix("1 HEADERS"))
                caller.expect("1 DATA \(envelope(sent))", "1 HEADERS/end grpc-status: 0")
            }
        }
    }

    @Test(arguments: Transport.allCases)
    func `a message of the response waits for the message that it names`(_ transport: Transport) {
        let rule = "{script: [{send: {json: '{json:2:/a}'}}, {send: {json: '{json:1:/a}'}}]}"
        runProxy(transport, Self.configuration(rule)) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc+json"), .data(1, envelope(#"{"a":1}"#)))
            harness.settle()
            caller.expectNothing()
            caller.send(.data(1, envelope(#"{"a":2}"#)))
            #expect(caller.next().hasPrefix("1 HEADERS"))
            caller.expect("1 DATA \(envelope("2") + envelope("1"))", "1 HEADERS/end grpc-status: 0")
        }
    }

    @Test(arguments: [
        ("{text: '{json:1:/a}{json:2:/a}'}", "held_messages: 170, ", "x", 1),
        ("{text: '{json:1:/a}{json:2:/a}'}", "held_messages: 0, ", "", 1),
        ("{text: '{json:1:/a}{json:2:/a}'}", "held_messages: 1KiB, ", "xy", 0),
        ("{text: '{json:1:/a}{json:2:/a}'}", "", "xy", 0), ("{text: '{json:/a}'}", "held_messages: 0, ", "z", 0),
    ])
    func `a call keeps no more than held_messages`(_ response: String, _ option: String, _ sent: String, _ hits: Int) {
        let padding = String(repeating: " ", count: 60)
        let request = ["x", "y", "z"].map { envelope(#"{"a":"\#($0)"}\#(padding)"#) }.joined()
        let yaml = Self.configuration("{respond: \(response)}").replacing("{m: {", with: "{m: {\(option)")
        runProxy(yaml) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc+json"), .data(1, request, end: true))
            #expect(caller.next().hasPrefix("1 HEADERS"))
            caller.expect("1 DATA \(envelope(sent))", "1 HEADERS/end grpc-status: 0")
            let label = "martlet_limit_hits_total{limit=\"mock_messages\"}"
            #expect(harness.metrics(label) == ["\(label) \(hits)"])
        }
    }

    @Test(arguments: [("held_messages: 100, ", true), ("held_messages: 200, ", false)])
    func `a condition on messages has no more than held_messages`(_ option: String, isOver: Bool) {
        let rules = "{when: {messages: [{}, {}]}, respond: {text: both}}, {respond: {text: other}}"
        let yaml = Self.configuration(rules).replacing("{m: {", with: "{m: {\(option)")
        runProxy(yaml) { harness in
            let caller = harness.http2Caller()
            let request = [#"{"a":1}"#, #"{"a":2}"#].map { envelope($0) }.joined()
            caller.send(.say(1, "application/grpc+json"), .data(1, request, end: true))
            #expect(caller.next().hasPrefix("1 HEADERS"))
            caller.expect("1 DATA \(envelope(isOver ? "other" : "both"))", "1 HEADERS/end grpc-status: 0")
            let label = "martlet_limit_hits_total{limit=\"mock_messages\"}"
            #expect(harness.metrics(label) == ["\(label) \(isOver ? 1 : 0)"])
        }
    }

    @Test func `messages are held with their values only as long as those are read`() {
        let conditions = Array(repeating: "{/0: 1}", count: 8).joined(separator: ", ")
        runProxy(Self.configuration("{when: {messages: [\(conditions)]}, respond: {text: all}}")) { harness in
            func held() -> Int {
                var bytes = 0
                let connections = harness.worker.allAcceptors.flatMap(\.openConnections)
                for connection in connections { connection.forEachCall { bytes += $0.heldBytes } }
                return bytes
            }
            // An array takes three times the room of its text.
            let message = envelope("[\(Array(repeating: "1", count: 1000).joined(separator: ","))]")
            let values = 6000
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc+json"), .data(1, message))
            harness.settle()
            let first = held()
            #expect(first > values)
            for _ in 1..<8 { caller.send(.data(1, message)) }
            harness.settle()
            // The first message and the last one have values.
            let growth = held() - first
            #expect(growth > values && growth < 10 * values)
            caller.send(.data(1, "", end: true))
            #expect(caller.next().hasPrefix("1 HEADERS"))
            caller.expect("1 DATA \(envelope("all"))", "1 HEADERS/end grpc-status: 0")
        }
    }

    @Test func `redact holds for messages by number, too`() {
        runProxy(Self.configuration("{respond: {code: not_found, message: 'no {json:1:/pin}'}}")) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc+json"), .data(1, Self.request, end: true))
            #expect(caller.next().contains("grpc-message: no ***"))
        }
    }

    @Test(arguments: [
        ("respond: {text: '{json:0:/a}'}", "{json:0:/a} has no number from 1 to 1000; write for example {json:1:/id}"),
        (
            "respond: {text: '{json:1001:/a}'}",
            "{json:1001:/a} has no number from 1 to 1000; write for example {json:1:/id}"
        ),
        ("respond: {text: '{json:1:a}'}", "{json:1:a} is not a JSON Pointer; write for example {json:/id}"),
        ("respond: {text: '{json:x:/a}'}", "{json:x:/a} is not a JSON Pointer; write for example {json:/id}"),
        (
            "respond: {}, state: {of: '{json:2:/a}', is: start}",
            "\"of\" knows the first message alone; write for example {json:/id}"
        ),
    ])
    func `a number that no message has is an error`(_ rule: String, _ message: String) throws {
        let diagnostics = Diagnostics()
        let node = try #require(YAML.parse(Array("{\(rule)}".utf8), into: diagnostics))
        _ = MockRule(Section(node, MockSettings.ruleOptions, into: diagnostics), index: 0)
        #expect(diagnostics.sorted.map(\.message) == [message])
    }
}
