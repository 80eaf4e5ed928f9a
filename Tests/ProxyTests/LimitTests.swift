import Configuration
import Documents
import HTTP2Kit
import Testing
import Time

@testable import Interceptors
@testable import Proxy

/// Calls that are too many, too fast or too large.
@Suite struct LimitTests {
    private static func limit(_ options: String, more: String = "") -> String {
        plain + "\ninterceptors:\n  - limit: {\(options)}\n\(more)"
    }

    /// What a call of somebody gets: the code of its response.
    private func call(_ harness: ProxyHarness, _ tenant: String? = nil) -> String {
        let caller = harness.caller()
        caller.send(http("GET /pkg.Service/Look HTTP/1.1", "host: app", "x-tenant: \(tenant ?? "t")", "x-call: 1"))
        return String(caller.head().dropFirst("HTTP/1.1 ".count).prefix(3))
    }

    private static let responding = "  - respond: {status: 204}\n"

    @Test func `calls that come too fast are reported when to retry`() {
        runProxy(Self.limit("rate: 6/m, burst: 2", more: Self.responding)) { harness in
            #expect([call(harness), call(harness), call(harness)] == ["204", "204", "429"])
            harness.pass(.seconds(2))
            let caller = harness.caller()
            caller.send(say)
            #expect(caller.head().contains("\r\nretry-after: 8\r\n"))
            caller.expect(#"{"code":"resource_exhausted","message":"the rate limit is exceeded; retry in 8s"}"#)
            harness.pass(.seconds(8))
            #expect([call(harness), call(harness)] == ["204", "429"])
            let name = #"martlet_interceptor_verdicts_total{interceptor="limit",verdict="reject"} "#
            #expect(harness.metrics("martlet_interceptor_verdicts_total").contains(name + "3"))
        }
    }

    @Test func `callers of gRPC get it as a trailer`() {
        runProxy(Self.limit("rate: 1/s", more: Self.responding)) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc", end: true), .say(3, "application/grpc", end: true))
            let rejected = caller.rest().first { $0.hasPrefix("3 ") } ?? ""
            #expect(rejected.contains("grpc-status: 8"))
            #expect(rejected.contains("retry-after: 1"))
        }
    }

    @Test func `code and text are those that are given`() {
        runProxy(Self.limit("rate: 1/h, code: unavailable, text: not so fast", more: Self.responding)) { harness in
            _ = call(harness)
            let caller = harness.caller()
            caller.send(say)
            #expect(caller.head().hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            caller.expect(#"{"code":"unavailable","message":"not so fast"}"#)
        }
    }

    // MARK: Who shares a limit

    @Test func `each value of the key has its own limit`() {
        let options = #"rate: 1/h, key: "{header:x-tenant}", keys: 2"#
        runProxy(Self.limit(options, more: Self.responding)) { harness in
            #expect([call(harness, "a"), call(harness, "b"), call(harness, "a")] == ["204", "204", "429"])
            #expect([call(harness, "c"), call(harness, "d")] == ["204", "429"])
            #expect(harness.metrics(#"martlet_limit_hits_total{limit="keys"}"#).first?.hasSuffix(" 2") == true)
        }
    }

    @Test func `a key that is the same for all calls is none`() {
        runProxy(Self.limit("rate: 1/h, key: all, keys: 1", more: Self.responding)) { harness in
            #expect([call(harness), call(harness)] == ["204", "429"])
            #expect(harness.metrics(#"martlet_limit_hits_total{limit="keys"}"#).first?.hasSuffix(" 0") == true)
        }
    }

    @Test func `all workers share a limit`() {
        let shared = SharedStore()
        let harnesses = (0..<2).map { _ in
            ProxyHarness(.memory, Self.limit("rate: 3/h", more: Self.responding), shared: shared)
        }
        #expect([0, 1, 0, 1].map { call(harnesses[$0]) } == ["204", "204", "204", "429"])
        for harness in harnesses { harness.finish() }
    }

    @Test func `a limit stays through a reload with its name and its settings`() {
        let file = Self.limit("rate: 1/h", more: Self.responding)
        runProxy(file) { harness in
            #expect(call(harness) == "204")
            harness.use(file.replacing("204", with: "205"))
            #expect(call(harness) == "429")
            harness.use(file.replacing("1/h", with: "2/h"))
            #expect([call(harness), call(harness), call(harness)] == ["204", "204", "429"])
        }
    }

    @Test func `those of one name and the same settings are one limit, and others are not`() {
        let chains = """
            chains:
              a: [{name: x, limit: {rate: 1/h}}, {respond: {status: 204}}]
              b: [{name: x, limit: {rate: 1/h}}, {respond: {status: 204}}]
              c: [{name: y, limit: {rate: 1/h}}, {respond: {status: 204}}]
            routes: [{match: {header: {x-tenant: a}}, chain: a}, {match: {header: {x-tenant: b}}, chain: b}, {chain: c}]
            """
        runProxy(plain + "\n" + chains) { harness in
            #expect([call(harness, "a"), call(harness, "b"), call(harness, "c")] == ["204", "429", "204"])
        }
    }

    // MARK: Calls at a time

    private func begin(_ harness: ProxyHarness, _ fields: String...) -> ScriptedPeer {
        let caller = harness.caller()
        let lines = ["POST /pkg.Service/Say HTTP/1.1", "host: app", "content-type: application/json"]
        caller.send((lines + fields + ["content-length: 2", "", "{}"]).joined(separator: "\r\n"))
        return caller
    }

    /// Whether one call finds room, and no second one.
    private func expectRoomForOne(_ harness: ProxyHarness, sourceLocation: SourceLocation = #_sourceLocation) {
        let first = begin(harness)
        first.expectNothing(sourceLocation: sourceLocation)
        let second = begin(harness)
        #expect(second.head().hasPrefix("HTTP/1.1 429 "), sourceLocation: sourceLocation)
        second.expect(
            #"{"code":"resource_exhausted","message":"another call is in progress, and the limit is 1"}"#,
            sourceLocation: sourceLocation
        )
        first.close()
    }

    private static let one = limit("concurrency: 1")

    @Test func `a call that has been answered makes room`() {
        runProxy(Self.one) { harness in
            let caller = begin(harness)
            let upstream = harness.upstream().accept()
            upstream.expect(saidUpstream)
            upstream.send(fine)
            caller.expect(fine)
            expectRoomForOne(harness)
        }
    }

    @Test func `a call that was rejected room gives none back`() {
        runProxy(Self.one) { harness in
            let caller = begin(harness)
            for _ in 0..<3 { #expect(begin(harness).head().hasPrefix("HTTP/1.1 429 ")) }
            caller.close()
            expectRoomForOne(harness)
        }
    }

    @Test func `a call that its caller has left makes room`() {
        runProxy(Self.one) { harness in
            for _ in 0..<3 { begin(harness).reset() }
            expectRoomForOne(harness)
        }
    }

    @Test func `a call that is rejected further on makes room`() {
        let reject = "  - {when: {header: {x-no: present}}, reject: {code: aborted}}\n"
        runProxy(Self.limit("concurrency: 1", more: reject)) { harness in
            for _ in 0..<3 { #expect(begin(harness, "x-no: 1").head().hasPrefix("HTTP/1.1 409 ")) }
            expectRoomForOne(harness)
        }
    }

    @Test func `a call whose time is over makes room`() {
        runProxy(Self.one) { harness in
            let caller = begin(harness, "connect-timeout-ms: 100")
            harness.pass(.milliseconds(120))
            #expect(caller.head().hasPrefix("HTTP/1.1 504 "))
            #expect(begin(harness, "connect-timeout-ms: 0").head().hasPrefix("HTTP/1.1 504 "))
            expectRoomForOne(harness)
        }
    }

    @Test func `a call whose upstream has failed makes room`() {
        runProxy(Self.one) { harness in
            harness.upstream().behaviour = .rejects
            for _ in 0..<3 { #expect(begin(harness).head().hasPrefix("HTTP/1.1 503 ")) }
            harness.upstream().behaviour = .accepts
            expectRoomForOne(harness)
        }
    }

    @Test func `a call of an old configuration counts until it is over`() {
        runProxy(Self.one) { harness in
            let caller = begin(harness)
            harness.use(Self.one + "workers: 1\n")
            #expect(begin(harness).head().hasPrefix("HTTP/1.1 429 "))
            caller.close()
            expectRoomForOne(harness)
        }
    }

    // MARK: Sizes

    @Test func `names and values of headers are counted together`() {
        runProxy(Self.limit("header: 39", more: Self.responding)) { harness in
            let caller = harness.caller()
            // The host is none of them.
            caller.send(
                http(
                    "GET /p HTTP/1.1",
                    "host: app",
                    "x-a: \(String(repeating: "a", count: 18))",
                    "x-bc: 12345678901234"
                )
            )
            #expect(caller.head().hasPrefix("HTTP/1.1 204 "))
            let more = ["x-a: \(String(repeating: "a", count: 19))", "x-bc: 12345678901234"]
            caller.send(
                (["POST /p HTTP/1.1", "host: app", "content-length: 0"] + more + ["", ""]).joined(separator: "\r\n")
            )
            #expect(caller.head().hasPrefix("HTTP/1.1 431 Request Header Fields Too Large\r\n"))
            caller.expect(#"{"code":"resource_exhausted","message":"the headers exceed 39 bytes"}"#)
        }
    }

    @Test func `a bare message is measured without its head`() {
        runProxy(Self.limit("message: 2")) { harness in
            let caller = harness.caller()
            caller.send(say)
            let upstream = harness.upstream().accept()
            upstream.expect(saidUpstream)
            upstream.send(fine)
            caller.expect(fine)
            caller.send(say.replacing("length: 2", with: "length: 3") + " ")
            #expect(caller.head().hasPrefix("HTTP/1.1 429 Too Many Requests\r\n"))
            let message = "a request message exceeds 2 bytes"
            caller.expect(#"{"code":"resource_exhausted","message":"\#(message)"}"#)
            upstream.expectNothing()
        }
    }

    @Test func `each message of a stream is measured without its envelope`() {
        runProxy(Self.limit("message: 5").replacing("http:", with: "h2c:")) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc"), .data(1, envelope("12345")))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = upstream.next()
            upstream.expect("1 DATA \(envelope("12345"))")
            caller.send(.data(1, envelope("123456")))
            #expect(caller.next().contains("grpc-status: 8"))
            upstream.expect("1 RST_STREAM CANCEL")
            caller.expectRejection(1)
        }
    }

    @Test func `messages are asked for only where they are limited`() {
        let events = { (options: String) in
            let diagnostics = Diagnostics()
            let node = YAML.parse(Array(options.utf8), into: diagnostics)!
            let section = Section(node, LimitPlan.kind.options, into: diagnostics)
            return LimitPlan(section, BuildContext(name: "limit", resources: BuildResources())).events
        }
        #expect(events("{rate: 1/s}") == [.requestHead])
        #expect(events("{rate: 1/s, concurrency: 1}") == [.requestHead, .finished])
        #expect(events("{message: 4MiB}").contains(.requestMessages))
    }

    // MARK: Errors of the file

    @Test(arguments: [
        ("", "4:12: the interceptor has no limit; add \"rate\", \"concurrency\", \"message\" or \"header\""),
        (
            "rate: 100",
            #"4:19: "100" is not a rate; write a number from 1 to 1000000 and /s, /m or /h, for example 100/s"#
        ),
        ("rate: 1/s, burst: 0", #"4:31: "burst" cannot be "0""#),
        ("concurrency: 1, burst: 2", #"4:36: "burst" has no effect without "rate"; add "rate", or remove it"#),
        (
            "message: 1MiB, key: a",
            #"4:33: "key" has no effect without "rate" or "concurrency"; add one of them, or remove it"#
        ),
        ("rate: 1/s, key: '{nothing}'", "4:29: {nothing} is unknown"),
        ("rate: 1/s, code: ok", #"4:30: "code" cannot be "ok""#),
    ])
    func `what cannot be meant is said when the file is loaded`(options: String, error: String) {
        let diagnostics = Diagnostics()
        let yaml = Self.limit(options)
        _ = Plan(YAML.parse(Array(yaml.utf8), into: diagnostics), kinds: .builtIn, into: diagnostics)
        let found = diagnostics.lines(file: "f")
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("f:\(error)") == true, "\(found)")
    }
}
