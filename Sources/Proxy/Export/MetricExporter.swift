package import Events
package import Telemetry
package import Time

/// Sends the metrics of the process to a receiver of OTLP, again and again.
///
/// Metrics are cumulative: a snapshot that waits is replaced by a newer one. Belongs to one thread.
package final class MetricExporter {
    private let loop: EventLoop
    private let sender: OTLPSender<MetricSnapshot>
    private let start: WallTime
    private let collect: (@escaping ([MetricFamily]) -> Void) -> Void
    private var plan: TelemetryPlan.Metrics?
    private var timer: Timer?
    private var isCollecting = false
    /// The bounds of the last snapshot's histograms, its time, and since when the histograms count.
    private var bounds: HistogramBounds?
    private var lastTime: WallTime
    private var histogramStart: WallTime

    /// Makes one that sends nothing.
    ///
    /// - Parameters:
    ///   - loop: the loop of its thread.
    ///   - start: when the process began to count.
    ///   - log: where errors go.
    ///   - collect: what brings all metrics, now or later.
    package init(
        loop: EventLoop,
        start: WallTime,
        log: @escaping (LogMessage) -> Void,
        collect: @escaping (@escaping ([MetricFamily]) -> Void) -> Void
    ) {
        (self.loop, self.collect) = (loop, collect)
        // The kernel knows the time of the boot to a second: the start may seem to be yet to come.
        self.start = min(start, loop.clock.wall)
        (lastTime, histogramStart) = (self.start, self.start)
        sender = OTLPSender(loop: loop, log: log) { _ in nil }
    }

    /// Goes over to a configuration.
    package func use(_ plan: TelemetryPlan?) {
        let interval = self.plan?.interval
        self.plan = plan?.metrics
        sender.use(self.plan?.receiver)
        guard let plan = self.plan else { return end() }
        let timer = self.timer ?? Timer(on: loop.timers) { [unowned self] in export() }
        self.timer = timer
        if !timer.isArmed || interval != plan.interval { timer.arm(after: plan.interval) }
    }

    /// Sends nothing any more.
    package func end() {
        timer?.disarm()
        sender.end()
    }

    /// Sends the last metrics of the process, and calls `done` then, at the latest after a time.
    package func flush(_ families: [MetricFamily], within limit: Duration, done: @escaping () -> Void) {
        guard plan != nil else { return done() }
        timer?.disarm()
        sender.send(replacing: snapshot(families))
        sender.flush(within: limit, done: done)
    }

    /// Whether there are metrics that have not been sent.
    package var isWaiting: Bool { !sender.isIdle }

    /// How many requests have come to what.
    package var counts: [(result: String, count: Int)] {
        [("exported", sender.counts.exported), ("failed", sender.counts.failed), ("replaced", sender.replaced)]
    }

    private func export() {
        guard let plan else { return }
        timer?.arm(after: plan.interval)
        guard !isCollecting else { return }
        isCollecting = true
        collect { [unowned self] families in
            isCollecting = false
            guard self.plan != nil else { return }
            sender.send(replacing: snapshot(families))
        }
    }

    /// Histograms start again with other bounds: after the last snapshot that had those before.
    private func snapshot(_ families: [MetricFamily]) -> MetricSnapshot {
        let now = loop.clock.wall
        let snapshot = MetricSnapshot(families, at: now, since: start, histograms: histogramStart)
        defer { lastTime = now }
        guard let new = snapshot.bounds, new != bounds else { return snapshot }
        if bounds != nil { histogramStart = lastTime }
        bounds = new
        return MetricSnapshot(families, at: now, since: start, histograms: histogramStart)
    }
}
