import HTTP2Kit
import Testing
import Time

@testable import Proxy

/// Calls that rules have retried.
@Suite struct ValidateRetryTests {
    private static let down = bare("503 Service Unavailable")

    @Test func `the rules of Martlet let 429 wait for three seconds`() {
        runProxy(validating("rules: [{use: default}], max_retries: 1")) { harness in
            let caller = harness.caller()
            caller.send(say)
            let upstream = harness.upstream().accept()
            upstream.expect(saidUpstream)
            upstream.send(bare("429 Too Many Requests"))
            harness.pass(.milliseconds(2999))
            upstream.expectNothing()
            harness.pass(.milliseconds(1))
            upstream.expect(saidUpstream)
            upstream.send(fine)
            caller.expect(fine)
        }
    }

    @Test func `another time for a status, and none for others`() {
        runProxy(validating("rules: [{use: default, retriable_status: {503: 1s}}], max_retries: 1")) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            upstream.send(Self.down)
            harness.pass(.seconds(1))
            upstream.expect(gotUpstream)
            upstream.send(bare("429 Too Many Requests"))
            caller.expect(bare("429 Too Many Requests"))
        }
    }

    @Test func `an upstream that rejects connections is tried at once, also with POST`() {
        runProxy(validating("rules: [{use: default}], max_retries: 2")) { harness in
            harness.upstream().behaviour = .rejects
            let caller = harness.caller()
            caller.send(say)
            // Connections are made with growing pauses.
            for _ in 0..<3 { harness.pass(.seconds(2)) }
            #expect(caller.head().hasPrefix("HTTP/1.1 503 "))
            #expect(harness.ruleRetries == "2")
            #expect(harness.skipped == ["attempts"])
        }
    }

    @Test func `a connection that breaks is retried where that is safe`() {
        runProxy(validating("rules: [{use: default}], max_retries: 2")) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            upstream.reset()
            let second = harness.upstream().accept()
            second.expect(gotUpstream)
            second.send(fine)
            caller.expect(fine)
            caller.send(say)
            second.expect(saidUpstream)
            second.reset()
            #expect(caller.head().hasPrefix("HTTP/1.1 502 "))
            #expect(harness.skipped == ["not_idempotent"])
        }
    }

    @Test(arguments: [
        ("immediate: {}", [0, 0, 0, 0, 0, 0]),
        ("delayed: 3s", [3000, 3000, 3000, 3000, 3000, 3000]),
        ("exponential: 2", [500, 1000, 2000, 4000, 8000, 16000]),
        ("exponential: 2, cap: 3s", [500, 1000, 2000, 3000, 3000, 3000]),
        ("fibonacci: {}", [0, 1000, 1000, 2000, 3000, 5000, 8000, 13000]),
        ("fibonacci: {}, unit: 10ms", [0, 10, 10, 20, 30, 50]),
    ])
    func `a request goes again after exactly the time of its strategy`(_ strategy: String, _ times: [Int]) {
        let rules = "rules: [{when: {status: 503}, retry: {\(strategy)}}], max_retries: \(times.count)"
        runProxy(validating(rules, upstream: "h2c://127.0.0.1:9000", more: "timeouts: {keepalive: none}")) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            var stream = 1
            #expect(upstream.next().hasPrefix("1 HEADERS/end"))
            for time in times {
                upstream.send(.response(stream, 503, end: true))
                if time > 0 {
                    harness.pass(.milliseconds(time - 1))
                    upstream.expectNothing()
                    harness.pass(.milliseconds(1))
                }
                stream += 2
                #expect(upstream.next().hasPrefix("\(stream) HEADERS/end"))
            }
            upstream.send(.response(stream, 503, end: true))
            #expect(caller.head().hasPrefix("HTTP/1.1 503 "))
        }
    }

    @Test func `an error of RPC is retried after its time, and its success is the response`() {
        let rules = """
            rules: [{when: {code: unavailable}, retry: {delayed: 1s, methods: [pkg.Service/Say]}}], max_retries: 2
            """
        runCall("{validate: {\(rules)}}", in: [.connectUnary, .grpc], on: [.memory]) { call in
            call.begin()
            call.say("{}", end: true)
            call.accept()
            call.upstreamReceives("head", "message {}", "end")
            if call.style == .grpc { call.respond() }
            call.fail("unavailable", "down", 14)
            call.callerReceives()
            call.harness.pass(.seconds(1))
            call.accept(on: call.upstream, stream: 3)
            call.upstreamReceives("head", "message {}", "end")
            call.respond()
            call.reply("hello")
            call.conclude()
            call.callerReceives("head", "message hello", "end ok")
        }
    }

    @Test(arguments: Transport.allCases)
    func `when retries are used up the last response passes as it is`(_ transport: Transport) {
        runProxy(transport, validating("rules: [{when: {status: 504}, retry: {}}], max_retries: 1")) { harness in
            let late = http("HTTP/1.1 504 Gateway Timeout", "x-a: b", "content-length: 4", body: "late")
            let caller = harness.caller()
            caller.send(get)
            for _ in 0..<2 {
                let upstream = harness.upstream().accept()
                upstream.expect(gotUpstream)
                upstream.send(late)
            }
            caller.expect(late)
            #expect(harness.skipped == ["attempts"])
        }
    }

    @Test func `the last error of RPC passes as it is`() {
        let rules = "rules: [{when: {code: unavailable}, retry: {allow_non_idempotent: true}}], max_retries: 1"
        runCall("{validate: {\(rules)}}", in: [.connectUnary, .grpc], on: [.memory]) { call in
            call.begin()
            call.say("{}", end: true)
            call.accept()
            call.upstreamReceives("head", "message {}", "end")
            if call.style == .grpc { call.respond() }
            call.fail("unavailable", "one", 14)
            call.accept(on: call.upstream, stream: 3)
            call.upstreamReceives("head", "message {}", "end")
            if call.style == .grpc { call.respond() }
            call.fail("unavailable", "two", 14)
            call.callerReceives("head", "end unavailable two")
        }
    }

    @Test(arguments: Transport.allCases)
    func `a retry that comes to nothing is reported as the first would be`(_ transport: Transport) {
        runProxy(transport, validating("rules: [{when: {status: 503}, retry: {delayed: 1s}}], max_retries: 1")) {
            harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            upstream.send(Self.down)
            harness.pass(.seconds(1))
            upstream.expect(gotUpstream)
            upstream.send("HTTP/9 nonsense\r\n\r\n")
            #expect(caller.head().hasPrefix("HTTP/1.1 502 "))
        }
    }

    @Test func `a request that may do twice what was to be done once is not retried`() {
        runProxy(validating("rules: [{when: {status: 503}, retry: {}}], max_retries: 1")) { harness in
            let caller = harness.caller()
            caller.send(say)
            let upstream = harness.upstream().accept()
            upstream.expect(saidUpstream)
            upstream.send(Self.down)
            caller.expect(Self.down)
            #expect(harness.skipped == ["not_idempotent"])
        }
    }

    @Test func `an upstream that wants no retry gets none, and one that wants a pause gets it`() {
        let rules = "rules: [{when: {code: unavailable}, retry: {allow_non_idempotent: true}}], max_retries: 2"
        runCall("{validate: {\(rules)}}", in: [.grpc], on: [.memory]) { call in
            call.begin()
            call.say("{}", end: true)
            call.accept()
            call.upstreamReceives("head", "message {}", "end")
            call.respondOnly(("grpc-status", "14"), ("grpc-retry-pushback-ms", "700"))
            call.harness.pass(.milliseconds(699))
            call.upstreamReceives()
            call.harness.pass(.milliseconds(1))
            call.accept(on: call.upstream, stream: 3)
            call.upstreamReceives("head", "message {}", "end")
            call.respondOnly(("grpc-status", "14"), ("grpc-retry-pushback-ms", "-1"))
            call.callerReceives("head", "end unavailable ")
            #expect(call.harness.skipped == ["pushback"])
        }
    }

    @Test func `retry-after makes the pause longer, and a deadline that it would pass ends it at once`() {
        runProxy(validating("rules: [{use: default}], max_retries: 2")) { harness in
            let caller = harness.caller()
            caller.send(
                http(
                    "POST /pkg.Service/Say HTTP/1.1",
                    "host: app",
                    "content-type: application/json",
                    "connect-timeout-ms: 9000",
                    "content-length: 2",
                    body: "{}"
                )
            )
            let upstream = harness.upstream().accept()
            _ = upstream.head()
            upstream.expect("{}")
            upstream.send(bare("429 Too Many Requests", "retry-after: 7"))
            harness.pass(.milliseconds(6999))
            upstream.expectNothing()
            harness.pass(.milliseconds(1))
            _ = upstream.head()
            upstream.expect("{}")
            upstream.send(bare("429 Too Many Requests"))
            #expect(caller.head().hasPrefix("HTTP/1.1 429 "))
            #expect(harness.skipped == ["deadline"])
        }
    }

    @Test func `a call is not retried where the budget of its upstream is used up`() {
        let budget = "retry_budget: {ratio: 0, min_per_second: 0}"
        runProxy(validating("rules: [{when: {status: 503}, retry: {}}], max_retries: 1", more: budget)) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            upstream.send(Self.down)
            caller.expect(Self.down)
            #expect(harness.skipped == ["budget"])
        }
    }
}
