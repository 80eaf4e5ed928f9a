import Bytes
import Events
import HTTP2Kit
import RPC
import Testing
import Time

@testable import Proxy

/// Errors of calls without a rule, and raw statuses.
@Suite struct MockUnmatchedTests {
    private static func configuration(_ rule: String) -> String {
        """
        listeners: [{address: "127.0.0.1:8080", proxy_status: off}]
        mocks: {m: {methods: {Say: [\(rule)]}}}
        interceptors: [{mock: {name: m, unmatched: unimplemented}}]
        """
    }

    private static let peers: [(SocketAddress?, Bool)] = [
        (nil, true), (.ipv4([127, 0, 0, 1], port: 1), true), (.ipv4([127, 9, 8, 7], port: 2), true),
        (.ipv6(Array(repeating: 0, count: 15) + [1], port: 3), true),
        (.ipv6(Array(repeating: 0, count: 10) + [255, 255, 127, 0, 0, 1], port: 4), true),
        (.ipv4([10, 0, 0, 1], port: 5), false), (.ipv4([128, 0, 0, 1], port: 6), false),
        (.ipv4([192, 0, 2, 127], port: 7), false), (.ipv4([0, 0, 0, 0], port: 8), false),
        (.ipv6(Array(repeating: 0, count: 16), port: 9), false),
        (.ipv6([0xfe, 0x80] + Array(repeating: 0, count: 13) + [1], port: 10), false),
        (.ipv6(Array(repeating: 0, count: 10) + [255, 255, 10, 0, 0, 1], port: 11), false),
    ]

    @Test(arguments: peers, ["{when: {json: {/a: 1}}, respond: {}}", "{when: {header: {x-a: b}}, respond: {}}"])
    func `callers on this machine alone learn the nearest rule`(
        _ peer: (address: SocketAddress?, isLocal: Bool),
        rule: String
    ) {
        runProxy(Self.configuration(rule)) { harness in
            let connection = harness.caller(as: Peer(address: peer.address, credentials: nil))
            let caller = HTTP2Peer(connection, in: harness, isCaller: true, settings: .settings([:]))
            caller.send(.say(1, "application/grpc+json"), .data(1, envelope("{}"), end: true))
            let end = caller.next()
            #expect(end.contains("grpc-status: 12"))
            #expect(end.contains("asks for") == peer.isLocal, "\(end)")
            let short = "mock m: no rule applies to the call; the log of Martlet has the details"
            #expect(end.contains(short) != peer.isLocal)
        }
    }

    private static func say(_ message: String, in harness: ProxyHarness, isRemote: Bool) {
        let address: SocketAddress? = isRemote ? .ipv4([192, 0, 2, 1], port: 5) : nil
        let connection = harness.caller(as: Peer(address: address, credentials: nil))
        let caller = HTTP2Peer(connection, in: harness, isCaller: true, settings: .settings([:]))
        caller.send(.say(1, "application/grpc+json"), .data(1, envelope(message), end: true))
        harness.settle()
    }

    private static func lines(_ harness: ProxyHarness) -> [String] {
        harness.messages.withLock { $0.filter { $0.hasPrefix("no rule of a mock applies to a call ") } }
    }

    @Test(
        arguments: ["16MiB", "0"],
        ["{when: {json: {/a: 1}}, respond: {}}", "{when: {header: {x-a: b}}, respond: {}}"]
    )
    func `the log has the details for callers on other machines`(_ journal: String, _ rule: String) {
        let yaml = Self.configuration(rule).replacing("{methods:", with: "{journal: \(journal), methods:")
        runProxy(yaml) { harness in
            Self.say("{}", in: harness, isRemote: false)
            #expect(Self.lines(harness) == [])
            Self.say("{}", in: harness, isRemote: true)
            let line = Self.lines(harness).first ?? ""
            #expect(line.contains(" mock=m call=pkg.Service/Say reason=the rule at 2:"))
            #expect(line.contains(" asks for "))
            Self.say("{}", in: harness, isRemote: true)
            #expect(Self.lines(harness) == [line])
            harness.pass(.seconds(11))
            Self.say("{}", in: harness, isRemote: true)
            #expect(Self.lines(harness) == [line, line + " more=1"])
        }
    }

    @Test func `calls that two rules are nearest to have a line each`() {
        let rules = "{when: {json: {/a: 1, /b: 1}}, respond: {}}, {when: {json: {/a: 2, /b: 2}}, respond: {}}"
        runProxy(Self.configuration(rules)) { harness in
            for message in [#"{"a":1}"#, #"{"a":2}"#, #"{"a":1}"#] { Self.say(message, in: harness, isRemote: true) }
            #expect(Self.lines(harness).count == 2)
        }
    }

    @Test(arguments: [200, 204, 299, 304, 404, 503, 599, 600, 666, 799, 800, 999])
    func `a raw response has any status of three digits from 200`(_ status: Int) {
        runProxy(Self.configuration("{respond: {raw: {status: \(status), headers: {x-a: b}}}}")) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc+json"), .data(1, envelope("{}"), end: true))
            #expect(caller.next().contains(":status: \(status) | x-a: b"))
        }
    }
}
