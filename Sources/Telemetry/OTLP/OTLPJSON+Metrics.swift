internal import Bytes
internal import Time

/// Writes metrics.
extension OTLPJSON {
    /// The `ExportMetricsServiceRequest` for some metrics; those without samples are left out.
    public static func request(_ snapshot: MetricSnapshot, _ resource: TelemetryResource) -> [UInt8] {
        let families = snapshot.families.filter { !$0.samples.isEmpty }
        return request(resource, "resourceMetrics", "scopeMetrics", "metrics") { queue in
            append(families, to: queue) { append($0, of: snapshot, to: queue) }
        }
    }

    private static func append(_ family: MetricFamily, of snapshot: MetricSnapshot, to queue: ByteQueue) {
        let metric = family.metric
        queue.append("{\"name\":")
        queue.append(json: metric.otlpName)
        queue.append(",\"description\":")
        queue.append(json: metric.help)
        if let unit = metric.unit {
            queue.append(",\"unit\":")
            queue.append(json: unit.otlp)
        }
        switch metric.kind {
        case .gauge: queue.append(",\"gauge\":{\"dataPoints\":")
        case .counter: queue.append(",\"sum\":{\"aggregationTemporality\":2,\"isMonotonic\":true,\"dataPoints\":")
        case .histogram: queue.append(",\"histogram\":{\"aggregationTemporality\":2,\"dataPoints\":")
        case .summary: queue.append(",\"summary\":{\"dataPoints\":")
        }
        append(family.samples, to: queue) { append($0, of: metric, snapshot, to: queue) }
        queue.append("}}")
    }

    private static func append(
        _ sample: MetricSample,
        of metric: Metric,
        _ snapshot: MetricSnapshot,
        to queue: ByteQueue
    ) {
        queue.append("{\"attributes\":")
        append(zip(metric.labels, sample.labels).map { SpanRecord.Attribute($0, $1) }, to: queue)
        if let start = snapshot.start(of: metric.kind) {
            append("startTimeUnixNano", Int(start.nanoseconds), to: queue)
        }
        append("timeUnixNano", Int(snapshot.time.nanoseconds), to: queue)
        switch sample.value {
        case .number(let number): append("asInt", number, to: queue)
        case .nanoseconds(let nanoseconds): append("asDouble", seconds: nanoseconds, to: queue)
        case .histogram(let histogram): append(histogram, to: queue)
        case .summary(let count, let nanoseconds):
            append("count", count, to: queue)
            append("sum", seconds: nanoseconds, to: queue)
        }
        queue.append("}")
    }

    private static func append(_ histogram: DurationHistogram, to queue: ByteQueue) {
        append("count", histogram.count, to: queue)
        append("sum", seconds: histogram.sum, to: queue)
        queue.append(",\"bucketCounts\":")
        append(histogram.buckets, to: queue) { count in
            queue.append("\"")
            queue.append(decimal: count)
            queue.append("\"")
        }
        queue.append(",\"explicitBounds\":")
        append(histogram.bounds.nanoseconds, to: queue) { queue.append(seconds: $0) }
        guard !histogram.exemplars.isEmpty else { return }
        queue.append(",\"exemplars\":")
        append(histogram.exemplars.sorted { $0.key < $1.key }.map(\.value), to: queue) { exemplar in
            queue.append("{")
            append(exemplar.span.context, to: queue)
            append("timeUnixNano", Int(exemplar.span.end.nanoseconds), to: queue)
            append("asDouble", seconds: exemplar.nanoseconds, to: queue)
            queue.append("}")
        }
    }

    private static func append(_ name: StaticString, seconds nanoseconds: Int, to queue: ByteQueue) {
        queue.append(",\"")
        queue.append(name)
        queue.append("\":")
        queue.append(seconds: nanoseconds)
    }
}
