import Bytes
import Testing
import Time

@testable import Telemetry

/// Metrics in the two encodings of OTLP.
@Suite struct OTLPMetricsTests {
    private static let resource = TelemetryResource([SpanRecord.Attribute("service.name", "shop")], version: "1.2")
    private static let exemplar = Exemplar(
        span: ExportedSpan(
            TraceContext(traceHigh: 1, traceLow: 2, span: 3, isSampled: true),
            end: WallTime(nanoseconds: 40)
        ),
        nanoseconds: 1_500_000_000
    )

    private func snapshot(_ families: MetricFamily...) -> MetricSnapshot {
        MetricSnapshot(
            families,
            at: WallTime(nanoseconds: 30),
            since: WallTime(nanoseconds: 10),
            histograms: WallTime(nanoseconds: 20)
        )
    }

    /// The metrics within the JSON of a request.
    private func json(_ families: MetricFamily...) -> String {
        let snapshot = MetricSnapshot(
            families,
            at: WallTime(nanoseconds: 30),
            since: WallTime(nanoseconds: 10),
            histograms: WallTime(nanoseconds: 20)
        )
        let text = String(decoding: OTLPJSON.request(snapshot, Self.resource), as: UTF8.self)
        let start = """
            {"resourceMetrics":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},\
            "scopeMetrics":[{"scope":{"name":"martlet","version":"1.2"},"metrics":[
            """
        #expect(text.hasPrefix(start) && text.hasSuffix("]}]}]}"))
        return String(text.dropFirst(start.count).dropLast(6))
    }

    @Test func `a counter is a monotonic sum without its suffix`() {
        let metric = Metric("calls_total", .counter, "Calls.", labels: ["a"])
        #expect(
            json(MetricFamily(metric, .number(7), labels: ["\"x"]), MetricFamily(.badRequests)) == #"""
                {"name":"calls","description":"Calls.","sum":{"aggregationTemporality":2,"isMonotonic":true,"dataPoints":[\#
                {"attributes":[{"key":"a","value":{"stringValue":"\"x"}}],\#
                "startTimeUnixNano":"10","timeUnixNano":"30","asInt":"7"}]}}
                """#
        )
    }

    @Test func `a gauge has no start, and seconds are a unit`() {
        let metric = Metric("age_seconds", .gauge, "Age.")
        #expect(
            json(MetricFamily(metric, .nanoseconds(-2_500_000_000))) == """
                {"name":"age","description":"Age.","unit":"s","gauge":{"dataPoints":[\
                {"attributes":[],"timeUnixNano":"30","asDouble":-2.5}]}}
                """
        )
    }

    @Test func `a summary has its count and its sum`() {
        let metric = Metric("wait_seconds", .summary, "Waits.")
        #expect(
            json(MetricFamily(metric, .summary(count: 2, nanoseconds: 3_000_000_000))) == """
                {"name":"wait","description":"Waits.","unit":"s","summary":{"dataPoints":[\
                {"attributes":[],"startTimeUnixNano":"10","timeUnixNano":"30","count":"2","sum":3}]}}
                """
        )
    }

    @Test func `the buckets of a histogram count for themselves, and have exemplars`() {
        let bounds = HistogramBounds([1_000_000, 2_000_000_000])
        let histogram = DurationHistogram(bounds: bounds, buckets: [4, 1, 0], sum: 5, exemplars: [1: Self.exemplar])
        let metric = Metric("d_seconds", .histogram, "D.")
        #expect(
            json(MetricFamily(metric, .histogram(histogram))) == """
                {"name":"d","description":"D.","unit":"s","histogram":{"aggregationTemporality":2,"dataPoints":[\
                {"attributes":[],"startTimeUnixNano":"20","timeUnixNano":"30","count":"5","sum":0.000000005,\
                "bucketCounts":["4","1","0"],"explicitBounds":[0.001,2],"exemplars":[\
                {"traceId":"00000000000000010000000000000002","spanId":"0000000000000003",\
                "timeUnixNano":"40","asDouble":1.5}]}]}}
                """
        )
    }

    @Test func `a gauge in Protobuf`() {
        let metric = Metric("g_bytes", .gauge, "G", labels: ["a"])
        let bytes = OTLPProtobuf.request(snapshot(MetricFamily(metric, .number(-1), labels: ["b"])), Self.resource)
        let point: [UInt8] =
            [0x19, 30, 0, 0, 0, 0, 0, 0, 0]  // time_unix_nano
            + [0x31] + [UInt8](repeating: 0xff, count: 8)  // as_int
            + [0x3a, 8, 0x0a, 1] + Array("a".utf8) + [0x12, 3, 0x0a, 1] + Array("b".utf8)  // attributes
        let gauge = [0x0a, UInt8(point.count)] + point
        let data: [UInt8] =
            [0x0a, 1] + Array("g".utf8) + [0x12, 1] + Array("G".utf8) + [0x1a, 2] + Array("By".utf8)
            + [0x2a, UInt8(gauge.count)] + gauge
        #expect(bytes.suffix(data.count + 2) == [0x12, UInt8(data.count)] + data)
    }

    @Test func `packed numbers stand one behind the other`() {
        var writer = ProtobufWriter()
        writer.packed(6, [1, .max])
        #expect(writer.bytes == [0x32, 16, 1, 0, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 0xff, count: 8))
    }

    @Test func `no two metrics have one name in OpenMetrics or OTLP`() {
        #expect(Set(Metric.all.map(\.openMetricsName)).count == Metric.all.count)
        #expect(Set(Metric.all.map(\.otlpName)).count == Metric.all.count)
    }

    @Test func `unit and suffix make the name of Prometheus`() {
        for metric in Metric.all {
            let unit = metric.unit.map { "_\($0.rawValue)" } ?? ""
            let total = metric.kind == .counter ? "_total" : ""
            #expect(metric.otlpName + unit + total == metric.name)
        }
    }
}
