internal import Configuration
internal import Events
internal import Proxy
internal import Telemetry
internal import Time

/// The spans and metrics that go to a receiver of OTLP.
extension Daemon {
    /// Exports spans and metrics from now on as a configuration says.
    func exportTelemetry(_ plan: TelemetryPlan?) {
        guard plan != nil || spans != nil else { return }
        let spans = spans ?? SpanExporter(loop: loop, shared: budgets.shared, log: { [log] in log.log($0) })
        let metrics =
            metrics
            ?? MetricExporter(
                loop: loop,
                start: ProcessMetrics.start,
                log: { [log] in log.log($0) },
                collect: { [unowned self] then in ask { [unowned self] in then(families($0)) } }
            )
        (self.spans, self.metrics) = (spans, metrics)
        spans.use(plan)
        metrics.use(plan)
    }

    /// Exports what there is, and waits for that a little; the loop does not run any more.
    func flushTelemetry(_ report: Report) {
        guard let spans, let metrics else { return }
        var pending = 2
        let limit = 2 * Duration.second
        spans.flush(within: limit) { pending -= 1 }
        metrics.flush(families(report), within: limit) { pending -= 1 }
        while pending > 0 { loop.turn(waiting: true) }
        if spans.waiting > 0 {
            log.log(.warn, "spans were not exported before the end", ("spans", "\(spans.waiting)"))
        }
        if metrics.isWaiting { log.log(.warn, "the last metrics were not exported before the end") }
    }

    /// How many spans, and how many requests with metrics, have come to what.
    var telemetryFamilies: [MetricFamily] {
        [
            MetricFamily(.spans, (spans?.counts ?? []).map { MetricSample([$0.result], .number($0.count)) }),
            MetricFamily(.metricExports, (metrics?.counts ?? []).map { MetricSample([$0.result], .number($0.count)) }),
        ]
    }
}
