import Bytes
import Testing

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
                # HELP martlet_build_info Always 1; the label tells which version is running.
                # TYPE martlet_build_info gauge
                martlet_build_info{version="0.1.0"} 1
                # HELP process_cpu_seconds_total Processor time used, user and system.
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
        var histogram = DurationHistogram()
        for nanoseconds in [1_500_000, 5_000_000, 5_000_001, 60_000_000_000] {
            histogram.record(nanoseconds: nanoseconds)
        }
        let metric = Metric("d", .histogram, "Durations.", labels: ["a"])
        let rendered = text {
            PrometheusText(to: $0).append([MetricFamily(metric, .histogram(histogram), labels: ["b"])])
        }
        #expect(
            rendered == """
                # HELP d Durations.
                # TYPE d histogram
                d_bucket{a="b",le="0.005"} 2
                d_bucket{a="b",le="0.01"} 3
                d_bucket{a="b",le="0.025"} 3
                d_bucket{a="b",le="0.05"} 3
                d_bucket{a="b",le="0.075"} 3
                d_bucket{a="b",le="0.1"} 3
                d_bucket{a="b",le="0.25"} 3
                d_bucket{a="b",le="0.5"} 3
                d_bucket{a="b",le="0.75"} 3
                d_bucket{a="b",le="1"} 3
                d_bucket{a="b",le="2.5"} 3
                d_bucket{a="b",le="5"} 3
                d_bucket{a="b",le="7.5"} 3
                d_bucket{a="b",le="10"} 3
                d_bucket{a="b",le="+Inf"} 4
                d_sum{a="b"} 60.011500001
                d_count{a="b"} 4

                """
        )
    }

    @Test func `a duration on a bound counts in the bucket of that bound`() {
        for index in 0..<14 {
            var histogram = DurationHistogram()
            histogram.record(nanoseconds: DurationHistogram.bounds[index])
            histogram.record(nanoseconds: DurationHistogram.bounds[index] + 1)
            #expect(histogram.buckets[index] == 1)
            #expect(histogram.buckets[index + 1] == 1)
        }
    }

    @Test(arguments: [
        (0, "0"), (5_000_000, "0.005"), (1, "0.000000001"), (10_000_000_000, "10"), (-1_500_000_000, "-1.5"),
        (1_795_173_133_000_000_000, "1795173133"),
    ])
    func `seconds have no trailing zeros`(nanoseconds: Int, expected: String) {
        #expect(text { $0.append(seconds: nanoseconds) } == expected)
    }

    @Test func `no two metrics share a name, and counters end in total`() {
        #expect(Set(Metric.all.map(\.name)).count == Metric.all.count)
        for metric in Metric.all { #expect((metric.kind == .counter) == metric.name.hasSuffix("_total")) }
    }
}
