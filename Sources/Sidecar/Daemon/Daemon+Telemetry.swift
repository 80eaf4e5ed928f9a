internal import Configuration
internal import Events
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

    /// Exports what there is, and waits for that a little; the loop does not run any more.
    func flushSpans() {
        guard let spans else { return }
        var isOver = false
        spans.flush(within: 2 * .second) { isOver = true }
        while !isOver { loop.turn(waiting: true) }
        guard spans.waiting > 0 else { return }
        log.log(.warn, "spans were not exported before the end", ("spans", "\(spans.waiting)"))
    }

    /// How many spans have come to what.
    var spanFamilies: [MetricFamily] {
        let counts = spans?.counts ?? []
        return [MetricFamily(.spans, counts.map { MetricSample([$0.result], .number($0.count)) })]
    }
}
