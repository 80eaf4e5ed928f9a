import Testing
import Time

@testable import Telemetry

@Suite struct CountersSnapshotTests {
    @Test func `two workers are added up by name, whatever the order of their names`() {
        let (first, second) = (WorkerCounters(), WorkerCounters())
        _ = second.upstream("slow")
        for counters in [first, second] {
            counters.attempt(counters.upstream("fast"), .reset)
            counters.connectionOpened(counters.listener("unix:@a"))
            counters.verdict(counters.interceptor("auth"), .respond)
            counters.limitHit(.waiting)
            counters.http2LimitHit(.rapidReset)
            counters.badRequest("version")
            counters.rejected(.origin)
            counters.logLinesDropped()
            _ = counters.start(Array("/".utf8).span, .http)
        }
        var merged = first.snapshot()
        merged.merge(second.snapshot())
        #expect(merged.inFlight == 2)
        let lines = merged.lines("martlet")
        #expect(lines.contains(#"martlet_upstream_attempts_total{upstream="fast",result="reset"} 2"#))
        #expect(lines.contains(#"martlet_upstream_attempts_total{upstream="slow",result="reset"} 0"#))
        #expect(lines.contains(#"martlet_connections{listener="unix:@a"} 2"#))
        #expect(lines.contains(#"martlet_interceptor_verdicts_total{interceptor="auth",verdict="respond"} 2"#))
        #expect(lines.contains(#"martlet_limit_hits_total{limit="waiting"} 2"#))
        #expect(lines.contains(#"martlet_h2_limit_hits_total{limit="rapid_reset"} 2"#))
        #expect(lines.contains(#"martlet_bad_requests_total{reason="version"} 2"#))
        #expect(lines.contains(#"martlet_rejected_requests_total{reason="origin"} 2"#))
        #expect(lines.contains("martlet_log_lines_dropped_total 2"))
        #expect(lines.contains("martlet_rpc_in_flight 2"))
    }

    @Test func `calls of two workers are added up by method, protocol and outcome`() {
        let (first, second) = (WorkerCounters(), WorkerCounters())
        first.call("s", "A", .grpc)
        first.call("s", "A", .grpc, code: 2)
        second.call("s", "B", .grpc)
        second.call("s", "A", .grpc, code: 2, duration: .nanoseconds(20_000_000))
        second.call("s", "A", .grpcWeb)
        var merged = first.snapshot()
        merged.merge(second.snapshot())
        let labels = #"rpc_service="s",rpc_method="A""#
        #expect(
            merged.lines("martlet_rpc_started") == [
                #"martlet_rpc_started_total{protocol="grpc",\#(labels)} 3"#,
                #"martlet_rpc_started_total{protocol="grpc_web",\#(labels)} 1"#,
                #"martlet_rpc_started_total{protocol="grpc",rpc_service="s",rpc_method="B"} 1"#,
            ]
        )
        let handled = merged.lines("martlet_rpc_handled")
        #expect(
            handled.contains(#"martlet_rpc_handled_total{route="0",protocol="grpc",\#(labels),code="unknown"} 2"#)
        )
        #expect(merged.lines("martlet_rpc_msg_sent")[0] == #"martlet_rpc_msg_sent_total{protocol="grpc",\#(labels)} 3"#)
        let durations = merged.lines("martlet_rpc_duration_seconds_sum")
        #expect(durations[0] == #"martlet_rpc_duration_seconds_sum{protocol="grpc",\#(labels)} 0.022"#)
    }

    @Test func `a snapshot does not change with the counters`() {
        let counters = WorkerCounters()
        counters.call("s", "A")
        let snapshot = counters.snapshot()
        let before = snapshot.lines("martlet")
        counters.call("s", "A")
        counters.limitHit(.head)
        #expect(snapshot.lines("martlet") == before)
    }

    @Test func `calls of an upstream are counted by code, and none before the first`() {
        let (first, second) = (WorkerCounters(), WorkerCounters())
        for counters in [first, second] {
            _ = counters.upstream("idle")
            counters.upstreamCall(counters.upstream("busy"), code: 0, duration: .nanoseconds(200_000))
        }
        first.upstreamCall(first.upstream("busy"), code: 2, duration: .nanoseconds(3_000_000))
        var merged = first.snapshot()
        merged.merge(second.snapshot())
        #expect(
            merged.lines("martlet_upstream_calls_total") == [
                #"martlet_upstream_calls_total{upstream="busy",code="ok"} 2"#,
                #"martlet_upstream_calls_total{upstream="busy",code="unknown"} 1"#,
            ]
        )
        let durations = merged.lines("martlet_upstream_call_duration_seconds")
        #expect(durations.contains(#"martlet_upstream_call_duration_seconds_bucket{upstream="busy",le="0.00025"} 2"#))
        #expect(durations.contains(#"martlet_upstream_call_duration_seconds_sum{upstream="busy"} 0.0034"#))
        #expect(!durations.contains { $0.contains("idle") })
    }

    @Test func `the pools of all workers are added up by upstream`() {
        var (first, second) = (CountersSnapshot(), CountersSnapshot())
        first.addPools(of: "a", idle: 1, active: 2, waiting: 3)
        second.addPools(of: "b", idle: 10, active: 20, waiting: 30)
        second.addPools(of: "a", idle: 1, active: 1, waiting: 0)
        first.merge(second)
        #expect(
            first.lines("martlet_upstream_") == [
                #"martlet_upstream_connections{upstream="a",state="idle"} 2"#,
                #"martlet_upstream_connections{upstream="a",state="active"} 3"#,
                #"martlet_upstream_connections{upstream="b",state="idle"} 10"#,
                #"martlet_upstream_connections{upstream="b",state="active"} 20"#,
                #"martlet_upstream_waiting{upstream="a"} 3"#,
                #"martlet_upstream_waiting{upstream="b"} 30"#,
            ]
        )
    }

    @Test func `a code without a name is rendered as its number`() {
        let counters = WorkerCounters()
        counters.call("s", "A", code: 9)
        #expect(counters.snapshot().lines("martlet_rpc_handled")[0].contains(#"code="9""#))
    }
}
