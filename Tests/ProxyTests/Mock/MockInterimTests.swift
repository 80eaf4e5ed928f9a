import Configuration
import Documents
import HTTP2Kit
import Testing
import Time

@testable import Interceptors
@testable import Proxy

/// Interim responses of mocks.
@Suite struct MockInterimTests {
    private static func configuration(_ rule: String) -> String {
        """
        listeners: [{address: "127.0.0.1:8080", proxy_status: off}]
        mocks: {m: {rules: [\(rule)]}}
        interceptors: [{mock: m}]
        """
    }

    private static let rules = [
        "{respond: {interim: [{headers: {link: </a>, x-a: '{path}'}}, 100], text: x}}",
        "{outputs: [{interim: {headers: {link: </a>, x-a: '{path}'}}}, {interim: 100}, {send: {text: x}}]}",
        "{script: [{interim: {headers: {link: </a>, x-a: '{path}'}}}, {interim: {status: 100}}, {send: {text: x}}]}",
    ]

    @Test(arguments: rules)
    func `an HTTP/1 caller gets interim responses before the head`(_ rule: String) {
        runProxy(Self.configuration(rule)) { harness in
            let caller = harness.caller()
            caller.send(http("GET /p HTTP/1.1", "host: a"))
            #expect(caller.head() == http("HTTP/1.1 103 Early Hints", "link: </a>", "x-a: /p"))
            #expect(caller.head() == http("HTTP/1.1 100 Continue"))
            #expect(caller.head().hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    @Test(arguments: rules)
    func `an HTTP/1.0 caller gets none`(_ rule: String) {
        runProxy(Self.configuration(rule)) { harness in
            let caller = harness.caller()
            caller.send(http("GET /p HTTP/1.0", "host: a"))
            #expect(caller.head().hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    @Test(arguments: rules, ["application/grpc+json", "application/connect+json", "application/json"])
    func `an RPC caller gets interim responses before the head`(_ rule: String, _ type: String) {
        runProxy(Self.configuration(rule)) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, type), .data(1, type == "application/json" ? "{}" : envelope("{}"), end: true))
            caller.expect(
                "1 HEADERS :status: 103 | link: </a> | x-a: /pkg.Service/Say",
                "1 HEADERS :status: 100"
            )
            #expect(caller.next().hasPrefix("1 HEADERS :status: 200"))
        }
    }

    @Test func `interim responses come before the delay, and one with a value of a message waits for that`() {
        let rule = "{respond: {interim: [102, {headers: {x-a: '{json:/a}'}}], text: x, delay: 1s}}"
        runProxy(Self.configuration(rule)) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc+json"))
            caller.expect("1 HEADERS :status: 102")
            caller.expectNothing()
            caller.send(.data(1, envelope(#"{"a":"b"}"#), end: true))
            caller.expect("1 HEADERS :status: 103 | x-a: b")
            harness.pass(.milliseconds(900))
            caller.expectNothing()
            harness.pass(.milliseconds(200))
            #expect(caller.next().hasPrefix("1 HEADERS :status: 200"))
        }
    }

    private static let late =
        "an interim response comes before the head of the response; "
        + "move it before \"headers\", \"send\" and \"respond\""
    private static let upgrade = "an interim response cannot be 101, which changes the protocol; write 103"

    @Test(arguments: [
        ("{respond: {interim: [101]}}", "1:22: \(upgrade)"),
        ("{script: [{interim: {status: 101}}]}", "1:30: \(upgrade)"),
        ("{script: [{send: {text: a}}, {interim: 103}]}", "1:40: \(late)"),
        ("{script: [{headers: {x-a: b}}, {interim: 103}]}", "1:42: \(late)"),
        ("{outputs: [{respond: {status: 200}}, {interim: 103}]}", "1:48: \(late)"),
        ("{script: [{each: [{interim: 103}, {send: {text: a}}]}]}", "1:29: \(late)"),
        ("{emit: per_input, outputs: [{interim: 103}, {send: {text: a}}]}", "1:39: \(late)"),
    ])
    func `an interim response that cannot be is an error`(_ rule: String, _ problem: String) throws {
        let diagnostics = Diagnostics()
        let node = try #require(YAML.parse(Array(rule.utf8), into: diagnostics))
        _ = MockRule(Section(node, MockSettings.ruleOptions, into: diagnostics), index: 0)
        #expect(diagnostics.sorted.map { "\($0.mark): \($0.message)" } == [problem])
    }

    @Test(arguments: ["99", "200", "{status: 200}", "{headers: {content-length: '3'}}", "{headers: {connection: x}}"])
    func `an interim response has a status from 100 to 199, and no field of the connection`(_ text: String) throws {
        let diagnostics = Diagnostics()
        let node = try #require(YAML.parse(Array("{script: [{interim: \(text)}]}".utf8), into: diagnostics))
        _ = MockRule(Section(node, MockSettings.ruleOptions, into: diagnostics), index: 0)
        #expect(diagnostics.sorted.count == 1)
        #expect(!diagnostics.isEmpty)
    }
}
