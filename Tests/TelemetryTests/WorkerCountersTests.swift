import Bytes
import Testing
import Time

@testable import Telemetry

@Suite struct WorkerCountersTests {
    let counters = WorkerCounters(methodLimit: 2)

    @Test func `a method can be known without a call that is counted`() {
        let counters = WorkerCounters(methodLimit: 1)
        let (path, other) = (Array("/shop.v1.Orders/Get".utf8), Array("/shop.v1.Orders/Put".utf8))
        let wasKnown = counters.knowsMethod(path.span)
        for path in [path, other] {
            counters.admit(
                path: path.span,
                service: path.span.extracting(1..<15),
                method: path.span.extracting(16..<19)
            )
        }
        let areKnown = [path, other].map { counters.knowsMethod($0.span) }
        #expect(!wasKnown && areKnown == [true, false])
        #expect(counters.snapshot().lines("martlet_rpc_").allSatisfy { $0.hasPrefix("martlet_rpc_in_flight") })
        counters.call("shop.v1.Orders", "Get")
        #expect(counters.snapshot().lines("martlet_rpc_started_total").count == 1)
    }

    @Test func `the first call of a method is started and handled under its own name`() {
        counters.call("pkg.Service", "Say")
        let snapshot = counters.snapshot()
        let labels = #"protocol="connect",rpc_service="pkg.Service",rpc_method="Say""#
        #expect(snapshot.lines("martlet_rpc_started") == ["martlet_rpc_started_total{\(labels)} 1"])
        #expect(
            snapshot.lines("martlet_rpc_handled") == [#"martlet_rpc_handled_total{route="0",\#(labels),code="ok"} 1"#]
        )
    }

    @Test func `a call to a known method is started at once`() {
        counters.call("pkg.Service", "Say")
        let path = Array("/pkg.Service/Say".utf8)
        _ = counters.start(path.span, .connect)
        #expect(started("pkg.Service", "Say") == 2)
        #expect(counters.inFlight == 1)
    }

    @Test func `a call to a method not yet known is in flight before it is started`() {
        let path = Array("/pkg.Service/Watch".utf8)
        var call = counters.start(path.span, .grpc)
        #expect(counters.inFlight == 1)
        #expect(counters.snapshot().lines("martlet_rpc_started").isEmpty)
        counters.admit(
            &call,
            path: path.span,
            service: Array("pkg.Service".utf8).span,
            method: Array("Watch".utf8).span
        )
        #expect(started("pkg.Service", "Watch", .grpc) == 1)
        counters.end(call, route: .none, code: 1, duration: .nanoseconds(5))
        #expect(started("pkg.Service", "Watch", .grpc) == 1)
        #expect(counters.inFlight == 0)
        #expect(counters.snapshot().lines("martlet_rpc_handled")[0].contains(#"route="none""#))
    }

    @Test func `errors are counted by who decided them, and added up over workers`() {
        let other = WorkerCounters()
        _ = other.interceptor("first")
        for counters in [counters, other] {
            counters.callFailed(1, decidedBy: .upstream)
            counters.callFailed(2, decidedBy: .martlet)
            counters.callFailed(2, decidedBy: "limit")
        }
        counters.callFailed(2, decidedBy: .upstream)
        var merged = counters.snapshot()
        merged.merge(other.snapshot())
        #expect(
            merged.lines("martlet_rpc_errors") == [
                #"martlet_rpc_errors_total{decided_by="upstream",code="canceled"} 2"#,
                #"martlet_rpc_errors_total{decided_by="upstream",code="unknown"} 1"#,
                #"martlet_rpc_errors_total{decided_by="martlet",code="unknown"} 2"#,
                #"martlet_rpc_errors_total{decided_by="interceptor:limit",code="unknown"} 2"#,
            ]
        )
    }

    @Test func `admitting a call twice counts it once`() {
        let path = Array("/s/M".utf8)
        var call = counters.start(path.span, .grpc)
        for _ in 0..<2 {
            counters.admit(&call, path: path.span, service: Array("s".utf8).span, method: Array("M".utf8).span)
        }
        counters.end(call, route: .number(0), code: 0, duration: .nanoseconds(5))
        #expect(started("s", "M", .grpc) == 1)
    }

    @Test func `two calls that find the same new method are both counted under its name`() {
        let path = Array("/s/M".utf8)
        var calls = (0..<2).map { _ in counters.start(path.span, .grpc) }
        for index in calls.indices {
            counters.admit(&calls[index], path: path.span, service: Array("s".utf8).span, method: Array("M".utf8).span)
            counters.end(calls[index], route: .number(0), code: 0, duration: .nanoseconds(5))
        }
        #expect(started("s", "M", .grpc) == 2)
        #expect(started("", "_OTHER", .grpc) == 0)
    }

    @Test func `names that callers invent are counted together`() {
        for number in 0..<100 { counters.call("evil.Service\(number)", "M", code: 2, exists: false) }
        let snapshot = counters.snapshot()
        #expect(snapshot.lines("martlet_rpc_started").count == 1)
        #expect(started("", "_OTHER") == 100)
    }

    @Test func `plain HTTP is never counted by name`() {
        counters.call("pkg.Service", "Say", .http)
        #expect(started("", "_OTHER", .http) == 1)
    }

    @Test func `the number of methods counted by name is bounded, also over a reload`() {
        for number in 0..<5 { counters.call("s", "M\(number)") }
        #expect(counters.snapshot().calls.keys.sorted().map(\.method) == ["_OTHER", "M0", "M1"])
        counters.setMethodLimit(3)
        for number in 0..<5 { counters.call("s", "M\(number)") }
        #expect(counters.snapshot().calls.keys.sorted().map(\.method) == ["_OTHER", "M0", "M1", "M2"])
        counters.setMethodLimit(1)
        counters.call("s", "M2")
        #expect(started("s", "M2") == 2)
    }

    @Test func `a path of unreasonable length is not counted by name`() {
        counters.call("s", String(repeating: "m", count: MethodTable.maxPath))
        #expect(started("", "_OTHER") == 1)
    }

    @Test func `two paths to one method share their counts`() {
        for prefix in ["", "/api"] {
            let path = Array("\(prefix)/s/M".utf8)
            var call = counters.start(path.span, .connect)
            counters.admit(&call, path: path.span, service: Array("s".utf8).span, method: Array("M".utf8).span)
            counters.end(call, route: .number(0), code: 0, duration: .nanoseconds(1))
        }
        #expect(counters.snapshot().lines("martlet_rpc_started").count == 1)
        #expect(started("s", "M") == 2)
    }

    @Test func `messages are counted under the labels of their call, and none of plain HTTP`() {
        counters.call("s", "M", .grpc, messages: MessageCounts(received: 3, sent: 1))
        counters.call("s", "M", .grpc, code: 2, messages: MessageCounts(received: 1, sent: 0))
        counters.call("", "/", .http, messages: MessageCounts())
        let labels = #"protocol="grpc",rpc_service="s",rpc_method="M""#
        #expect(
            counters.snapshot().lines("martlet_rpc_msg") == [
                "martlet_rpc_msg_received_total{\(labels)} 4", "martlet_rpc_msg_sent_total{\(labels)} 1",
            ]
        )
    }

    @Test func `each limit of HTTP/2 has its own count`() {
        for limit in HTTP2LimitLabel.allCases {
            for _ in 0...limit.rawValue { counters.http2LimitHit(limit) }
        }
        #expect(
            counters.snapshot().lines("martlet_h2_limit_hits_total")
                == [
                    "rapid_reset", "made_you_reset", "continuation", "settings", "ping", "empty_data", "priority",
                    "window", "header_list", "hpack", "heads", "streams", "slow_reader", "stalled",
                ].enumerated().map { "martlet_h2_limit_hits_total{limit=\"\($1)\"} \($0 + 1)" }
        )
    }

    @Test func `a name asked for again after a reload has the same counters`() {
        counters.attempt(counters.upstream("default"), .ok)
        _ = counters.upstream("other")
        counters.attempt(counters.upstream("default"), .ok)
        counters.retry(.connection, on: counters.upstream("default"))
        let lines = counters.snapshot().lines("martlet_upstream")
        #expect(lines.contains(#"martlet_upstream_attempts_total{upstream="default",result="ok"} 2"#))
        #expect(lines.contains(#"martlet_upstream_attempts_total{upstream="other",result="canceled"} 0"#))
        #expect(lines.contains(#"martlet_upstream_retries_total{upstream="default"} 1"#))
    }

    @Test func `connections that are open are those opened and not closed`() {
        let listener = counters.listener("127.0.0.1:8080")
        for _ in 0..<3 { counters.connectionOpened(listener) }
        counters.connectionClosed(listener)
        counters.connectionEvicted(listener)
        #expect(
            counters.snapshot().lines("martlet_connections") == [
                #"martlet_connections{listener="127.0.0.1:8080"} 2"#,
                #"martlet_connections_accepted_total{listener="127.0.0.1:8080"} 3"#,
                #"martlet_connections_evicted_total{listener="127.0.0.1:8080"} 1"#,
            ]
        )
    }

    @Test func `verdicts, limits, bad requests and dropped lines are counted by label`() {
        counters.verdict(counters.interceptor("auth"), .reject)
        counters.interceptorTook(counters.interceptor("auth"), .nanoseconds(5))
        counters.limitHit(.headTimeout)
        counters.limitHit(.requestMessage)
        counters.limitHit(.responseMessage)
        counters.badRequest("bare_cr")
        counters.badRequest("bare_cr")
        counters.logLinesDropped(7)
        let snapshot = counters.snapshot()
        #expect(
            snapshot.lines("martlet_interceptor") == [
                #"martlet_interceptor_verdicts_total{interceptor="auth",verdict="reject"} 1"#,
                #"martlet_interceptor_verdicts_total{interceptor="auth",verdict="respond"} 0"#,
                #"martlet_interceptor_verdicts_total{interceptor="auth",verdict="reset"} 0"#,
                #"martlet_interceptor_verdicts_total{interceptor="auth",verdict="replace"} 0"#,
                #"martlet_interceptor_verdicts_total{interceptor="auth",verdict="suspend"} 0"#,
                #"martlet_interceptor_verdicts_total{interceptor="auth",verdict="late"} 0"#,
                #"martlet_interceptor_verdicts_total{interceptor="auth",verdict="retry"} 0"#,
                #"martlet_interceptor_duration_seconds_sum{interceptor="auth"} 0.000000005"#,
                #"martlet_interceptor_duration_seconds_count{interceptor="auth"} 1"#,
            ]
        )
        #expect(snapshot.lines("martlet_limit").contains(#"martlet_limit_hits_total{limit="head_timeout"} 1"#))
        #expect(snapshot.lines("martlet_limit").contains(#"martlet_limit_hits_total{limit="request_message"} 1"#))
        #expect(snapshot.lines("martlet_limit").contains(#"martlet_limit_hits_total{limit="response_message"} 1"#))
        #expect(snapshot.lines("martlet_bad") == [#"martlet_bad_requests_total{reason="bare_cr"} 2"#])
        #expect(snapshot.lines("martlet_log") == ["martlet_log_lines_dropped_total 7"])
    }

    private func started(_ service: String, _ method: String, _ callProtocol: CallProtocol = .connect) -> Int {
        counters.snapshot().calls[MethodName(service: service, method: method)]?[callProtocol]?.started ?? 0
    }
}
