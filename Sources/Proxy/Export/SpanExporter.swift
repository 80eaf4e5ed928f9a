package import Events
internal import Telemetry
package import Time

/// Sends the spans of the process to a receiver of OTLP, batch by batch.
///
/// No call waits for it. Belongs to one thread.
package final class SpanExporter {
    private let loop: EventLoop
    private let buffer: SpanBuffer
    private let sender: OTLPSender<[SpanRecord]>
    private var plan: TelemetryPlan.Spans?
    private var timer: Timer?
    private var lastExport = Instant.start

    /// The most spans of a batch.
    private static let maxBatch = 512
    /// How often it is checked whether a batch is full.
    private static let interval = 250 * Duration.millisecond

    /// Makes one that sends nothing.
    package init(loop: EventLoop, shared: SharedStore, log: @escaping (LogMessage) -> Void) {
        let buffer = SpanBuffer.shared(in: shared)
        self.loop = loop
        self.buffer = buffer
        sender = OTLPSender(loop: loop, log: log) { isLast in
            guard isLast || buffer.count >= Self.maxBatch else { return nil }
            return Self.nextBatch(buffer)
        }
    }

    /// Goes over to a configuration; without spans in it, those that wait are dropped.
    package func use(_ plan: TelemetryPlan?) {
        self.plan = plan?.spans
        buffer.use(capacity: self.plan?.queue)
        sender.use(self.plan?.receiver)
        guard self.plan != nil else { return end() }
        let timer = self.timer ?? Timer(on: loop.timers) { [unowned self] in exportIfDue() }
        self.timer = timer
        if !timer.isArmed { timer.arm(after: Self.interval) }
    }

    /// Sends nothing any more.
    package func end() {
        timer?.disarm()
        sender.end()
    }

    /// Sends what there is, and calls `done` then, at the latest after a time.
    package func flush(within limit: Duration, done: @escaping () -> Void) {
        guard plan != nil, waiting > 0 else { return done() }
        sender.flush(within: limit, done: done)
    }

    /// How many spans have not been sent.
    package var waiting: Int { sender.waiting + buffer.count }

    /// How many spans have come to what.
    package var counts: [(result: String, count: Int)] {
        [("exported", sender.counts.exported), ("failed", sender.counts.failed), ("dropped", buffer.dropped)]
    }

    private func exportIfDue() {
        guard let plan else { return }
        timer?.arm(after: Self.interval)
        guard sender.isIdle, buffer.count >= Self.maxBatch || loop.now - lastExport >= plan.interval else { return }
        lastExport = loop.now
        if let batch = Self.nextBatch(buffer) { sender.send(replacing: batch) }
    }

    private static func nextBatch(_ buffer: SpanBuffer) -> [SpanRecord]? {
        let batch = buffer.removeFirst(maxBatch)
        return batch.isEmpty ? nil : batch
    }
}
