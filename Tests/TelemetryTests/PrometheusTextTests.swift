import Bytes
import Testing
import Time

@testable import Telemetry

@Suite struct PrometheusTextTests {
    @Test func `families are rendered with help, type, labels and values`() {
        let rendered = text {
            PrometheusText(to: $0).append([
                MetricFamily(.buildInfo, .number(1), labels: ["0.1.0"]),
                MetricFamily(.processCPU, .nanoseconds(12_345_600_000)),
                MetricFamily(.badRequests),
            ])
        }
        #expect(
            rendered == """
                # HELP martlet_build_info Always 1. The label has the version.
                # TYPE martlet_build_info gauge
                martlet_build_info{version="0.1.0"} 1
                # HELP process_cpu_seconds_total CPU time used, user and system.
                # TYPE process_cpu_seconds_total counter
                process_cpu_seconds_total 12.3456

                """
        )
    }

    @Test func `labels and help texts are escaped`() {
        let metric = Metric("odd", .gauge, "a \\ b\n\"c\"", labels: ["label"])
        let rendered = text { PrometheusText(to: $0).append([MetricFamily(metric, .number(-3), labels: ["x\"\\\ny"])]) }
        #expect(
            rendered == #"""
                # HELP odd a \\ b\n"c"
                # TYPE odd gauge
                odd{label="x\"\\\ny"} -3

                """#
        )
    }

    @Test func `a histogram is rendered with buckets that contain the ones before`() {
        let bounds = HistogramBounds([100_000, 5_000_000, 10_000_000_000])
        let histogram = DurationHistogram(bounds: bounds, buckets: [1, 0, 2, 1], sum: 60_011_500_001)
        let metric = Metric("d", .histogram, "Durations.", labels: ["a"])
        let rendered = text {
            PrometheusText(to: $0).append([MetricFamily(metric, .histogram(histogram), labels: ["b"])])
        }
        #expect(
            rendered == """
                # HELP d Durations.
                # TYPE d histogram
                d_bucket{a="b",le="0.0001"} 1
                d_bucket{a="b",le="0.005"} 1
                d_bucket{a="b",le="10"} 3
                d_bucket{a="b",le="+Inf"} 4
                d_sum{a="b"} 60.011500001
                d_count{a="b"} 4

                """
        )
    }

    @Test func `OpenMetrics has units, exemplars and an end`() {
        let span = ExportedSpan(
            TraceContext(traceHigh: 0x0a, traceLow: 1, span: 2, isSampled: false),
            end: WallTime(nanoseconds: 1_500_000_000_250_000_000)
        )
        let histogram = DurationHistogram(
            bounds: HistogramBounds([500_000_000, 10_000_000_000]),
            buckets: [1, 2, 0],
            sum: 4_000_000_000,
            exemplars: [1: Exemplar(span: span, nanoseconds: 1_250_000_000)]
        )
        let metric = Metric("d_seconds", .histogram, "\"D\".", labels: ["a"])
        let rendered = text {
            let text = PrometheusText(to: $0, .openMetrics)
            text.append([
                MetricFamily(.processCPU, .nanoseconds(1_000_000_000)),
                MetricFamily(metric, .histogram(histogram), labels: ["b"]),
            ])
            text.finish()
        }
        let ids = #"trace_id="000000000000000a0000000000000001",span_id="0000000000000002""#
        #expect(
            rendered == #"""
                # HELP process_cpu_seconds CPU time used, user and system.
                # TYPE process_cpu_seconds counter
                # UNIT process_cpu_seconds seconds
                process_cpu_seconds_total 1
                # HELP d_seconds \"D\".
                # TYPE d_seconds histogram
                # UNIT d_seconds seconds
                d_seconds_bucket{a="b",le="0.5"} 1
                d_seconds_bucket{a="b",le="10.0"} 3 # {\#(ids)} 1.25 1500000000.25
                d_seconds_bucket{a="b",le="+Inf"} 3
                d_seconds_sum{a="b"} 4
                d_seconds_count{a="b"} 3
                # EOF

                """#
        )
    }

    @Test(arguments: [
        (0, "0"), (5_000_000, "0.005"), (1, "0.000000001"), (10_000_000_000, "10"), (-1_500_000_000, "-1.5"),
        (1_795_173_133_000_000_000, "1795173133"),
    ])
    func `seconds have no trailing zeros`(nanoseconds: Int, expected: String) {
        #expect(text { $0.append(seconds: nanoseconds) } == expected)
    }
}
