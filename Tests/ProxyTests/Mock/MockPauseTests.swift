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
        ("{from: 2s, to: 1s}", "\"to\" is less than \"from\"; write for example { from: 10ms, to: 50ms }"),
        ("{to: none}", "a pause cannot be \"none\"; write a time such as 50ms"),
        ("{from: none}", "a pause cannot be \"none\"; write a time such as 50ms"),
        ("none", "a pause cannot be \"none\"; write a time such as 50ms"),
    ])
    func `a pause that cannot be is an error`(_ text: String, _ message: String) throws {
        let diagnostics = Diagnostics()
        _ = try Self.pause(text, into: diagnostics)
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
