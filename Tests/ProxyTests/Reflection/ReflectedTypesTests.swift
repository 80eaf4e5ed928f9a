import HTTP2Kit
import Testing
import Time

@testable import Proxy
@testable import Types

/// Calls while types come by reflection.
@Suite struct ReflectedTypesTests {
    private static let proto: Frame.Fields = ["content-type": "application/grpc+proto"]
    private static let ok = Frame.headers(1, ["grpc-status": "0"], end: true)
    private static let unknown = #"{"code":"unavailable","message":"the types of default are not known yet"}"#

    private func configuration(_ interceptors: String = "", speaks: String = "[grpc]", files: String = "") -> String {
        """
        listen: 127.0.0.1:8080
        upstreams:
          default: {url: "h2c://127.0.0.1:9000", speaks: \(speaks), codecs: [proto]}
          own: {url: "h2c://127.0.0.1:9001"}
        routes: [{upstream: default}]
        interceptors: [\(interceptors)]
        types: {reflection: \(speaks == "[grpc]" ? "default" : "own")\(files)}
        """
    }

    private func unary(_ method: String, _ body: String, type: String = "application/json") -> String {
        let head = ["POST /pkg.Service/\(method) HTTP/1.1", "host: app", "content-type: \(type)"]
        return (head + ["content-length: \(body.utf8.count)"]).joined(separator: "\r\n") + "\r\n\r\n" + body
    }

    /// Has the worker go by what reflection has brought: the types that tests know.
    private func know(_ harness: ProxyHarness) throws {
        let file = try #require(DescriptorFile(Array(TestTypes.bytes.dropFirst(3))))
        #expect(file.services == ["pkg.Service"])
        let base = try #require(harness.worker.generation.types)
        harness.worker.use(try base.adding(ReflectedFiles(files: [file], leftOut: [])))
    }

    private func expectUnavailable(_ harness: ProxyHarness, _ request: String) {
        let caller = harness.caller()
        caller.send(request)
        let head = caller.head()
        #expect(head.hasPrefix("HTTP/1.1 503"), "\(head)")
        caller.expect(Self.unknown)
    }

    @Test func `a call that needs types is told that they are not known yet`() throws {
        let configuration = self.configuration()
        try runProxy(configuration) { harness in
            expectUnavailable(harness, unary("Say", #"{"name":"a"}"#))
            #expect(harness.typesRequests == 0)
            try know(harness)
            let caller = harness.caller()
            caller.send(unary("Say", #"{"name":"a"}"#))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            #expect(upstream.next().contains("content-type: application/grpc+proto"))
            upstream.expect("1 DATA/end \(envelope("\n\u{1}a"))")
            upstream.send(.response(1, 200, Self.proto), .data(1, envelope("\u{10}\u{7}")), Self.ok)
            #expect(caller.head().hasPrefix("HTTP/1.1 200 OK"))
            caller.expect(#"{"count":"7"}"#)
        }
    }

    @Test func `a gRPC call to a Connect server needs types, too`() {
        let configuration = self.configuration(speaks: "connect")
        runProxy(configuration) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc+proto"), .data(1, envelope(""), end: true))
            let head = caller.next()
            #expect(head.contains("grpc-status: 14"), "\(head)")
            #expect(head.contains("the types of own are not known yet"), "\(head)")
        }
    }

    @Test(arguments: [
        "message: {on: request, require: {json: {/name: present}}}", "message: {on: request, set: {/name: b}}",
        #"respond: {json: {name: a}}"#,
    ])
    func `a rule on a message needs types, and keeps the code`(_ rule: String) {
        let configuration = self.configuration("{\(rule)}")
        runProxy(configuration) { harness in
            expectUnavailable(harness, unary("Say", "\n\u{1}a", type: "application/proto"))
        }
    }

    @Test func `a file has its types before reflection has brought any`() {
        let configuration = self.configuration(files: ", files: [\"\(TestTypes.path)\"]")
        runProxy(configuration) { harness in
            let caller = harness.caller()
            caller.send(unary("Say", #"{"name":"a"}"#))
            #expect(harness.upstream().acceptHTTP2(in: harness).next().contains("application/grpc+proto"))
            expectUnavailable(harness, unary("Unknown", "{}"))
        }
    }

    @Test func `an unknown method is requested, and not more than once a second`() throws {
        let configuration = self.configuration()
        try runProxy(configuration) { harness in
            try know(harness)
            for _ in 0..<3 {
                let caller = harness.caller()
                caller.send(unary("Unknown", "{}"))
                #expect(caller.head().hasPrefix("HTTP/1.1 501"))
            }
            #expect(harness.typesRequests == 1)
            harness.pass(.second)
            let caller = harness.caller()
            caller.send(unary("Unknown", "{}"))
            _ = caller.head()
            #expect(harness.typesRequests == 2)
        }
    }

    @Test func `a call under way keeps the types that it began with`() throws {
        let configuration = self.configuration()
        try runProxy(configuration) { harness in
            try know(harness)
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/connect+json"))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = upstream.next()
            let before = try #require(harness.worker.generation.types?.set)
            // Types without any method.
            let types = try #require(harness.worker.generation.types)
            harness.worker.use(try types.emptied)
            #expect(harness.worker.generation.types?.set !== before)
            #expect(harness.worker.liveGenerations == 1)
            caller.send(.data(1, envelope(#"{"name":"a"}"#), end: true))
            upstream.expect("1 DATA/end \(envelope("\n\u{1}a"))")
            upstream.send(.response(1, 200, Self.proto))
            #expect(caller.next().contains("content-type: application/connect+json"))
            upstream.send(.data(1, envelope("\n\u{1}a")))
            caller.expect("1 DATA \(envelope(#"{"name":"a"}"#))")
            upstream.send(Self.ok)
            caller.expect("1 DATA/end \(envelope("{}", flags: 2))")
            let other = harness.caller()
            other.send(unary("Say", "{}"))
            #expect(other.head().hasPrefix("HTTP/1.1 501"))
            #expect(harness.discardedTables == 0)
        }
    }

    @Test func `a reload discards the routes once, however often the types have changed`() throws {
        let configuration = self.configuration()
        try runProxy(configuration) { harness in
            try know(harness)
            try know(harness)
            harness.use(configuration)
            #expect(harness.discardedTables == 1)
            #expect(harness.worker.generation.types?.missing == "default")
        }
    }
}

extension KnownTypes {
    /// What another fetch may bring: nothing of before.
    fileprivate var emptied: KnownTypes {
        get throws { try adding(ReflectedFiles(files: [], leftOut: [])) }
    }
}
