internal import Time

/// Writes metrics.
extension OTLPProtobuf {
    /// The `ExportMetricsServiceRequest` for some metrics; those without samples are left out.
    public static func request(_ snapshot: MetricSnapshot, _ resource: TelemetryResource) -> [UInt8] {
        request(resource) { scopeMetrics in
            for family in snapshot.families where !family.samples.isEmpty {
                scopeMetrics.message(2) { add(family, of: snapshot, to: &$0) }
            }
        }
    }

    private static func add(_ family: MetricFamily, of snapshot: MetricSnapshot, to message: inout ProtobufWriter) {
        let metric = family.metric
        message.bytes(1, Array(metric.otlpName.utf8))
        message.bytes(2, Array(metric.help.utf8))
        if let unit = metric.unit { message.bytes(3, Array(unit.otlp.utf8)) }
        let field =
            switch metric.kind {
            case .gauge: 5
            case .counter: 7
            case .histogram: 9
            case .summary: 11
            }
        message.message(field) { data in
            for sample in family.samples {
                data.message(1) { add(sample, of: metric, snapshot, to: &$0) }
            }
            // AGGREGATION_TEMPORALITY_CUMULATIVE
            if metric.kind == .counter || metric.kind == .histogram { data.number(2, 2) }
            if metric.kind == .counter { data.number(3, 1) }
        }
    }

    private static func add(
        _ sample: MetricSample,
        of metric: Metric,
        _ snapshot: MetricSnapshot,
        to point: inout ProtobufWriter
    ) {
        if let start = snapshot.start(of: metric.kind) { point.fixed64(2, UInt64(start.nanoseconds)) }
        point.fixed64(3, UInt64(snapshot.time.nanoseconds))
        switch sample.value {
        case .number(let number): point.fixed64(6, UInt64(bitPattern: Int64(number)))
        case .nanoseconds(let nanoseconds): point.double(4, seconds(nanoseconds))
        case .histogram(let histogram): add(histogram, to: &point)
        case .summary(let count, let nanoseconds):
            point.fixed64(4, UInt64(count))
            point.double(5, seconds(nanoseconds))
        }
        let field = metric.kind == .histogram ? 9 : 7
        for (name, value) in zip(metric.labels, sample.labels) {
            add(SpanRecord.Attribute(name, value), field, to: &point)
        }
    }

    private static func add(_ histogram: DurationHistogram, to point: inout ProtobufWriter) {
        point.fixed64(4, UInt64(histogram.count))
        point.double(5, seconds(histogram.sum))
        point.packed(6, histogram.buckets.map { UInt64($0) })
        point.packed(7, histogram.bounds.nanoseconds.map { seconds($0).bitPattern })
        for (_, exemplar) in histogram.exemplars.sorted(by: { $0.key < $1.key }) {
            point.message(8) { message in
                message.fixed64(2, UInt64(exemplar.span.end.nanoseconds))
                message.double(3, seconds(exemplar.nanoseconds))
                message.bytes(4, bigEndian(exemplar.span.context.span))
                message.bytes(5, traceID(exemplar.span.context))
            }
        }
    }

    private static func seconds(_ nanoseconds: Int) -> Double { Double(nanoseconds) / 1_000_000_000 }
}

extension MetricSnapshot {
    /// Since when a metric counts; none for a gauge.
    func start(of kind: Metric.Kind) -> WallTime? {
        switch kind {
        case .gauge: nil
        case .counter, .summary: start
        case .histogram: histogramStart
        }
    }
}
