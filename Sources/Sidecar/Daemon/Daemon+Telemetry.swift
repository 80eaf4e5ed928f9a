internal import Proxy
internal import Telemetry
internal import Time

/// The spans that go to a tracing system.
extension Daemon {
    /// Exports spans from now on as a configuration says.
    func exportSpans(_ plan: TelemetryPlan?) {
        guard spans != nil || plan != nil else { return }
        let exporter = spans ?? SpanExporter(loop: loop, shared: budgets.shared, log: { [log] in log.log($0) })
        spans = exporter
        exporter.use(plan)
    }

    /// Exports what there is, and stops then.
    func flushSpans(_ done: @escaping () -> Void) {
        guard let spans else { return done() }
        spans.flush(within: 2 * .second, done: done)
    }

    /// How many spans have come to what.
    var spanFamilies: [MetricFamily] {
        let counts = spans?.counts ?? []
        return [MetricFamily(.spans, counts.map { MetricSample([$0.result], .number($0.count)) })]
    }
}
