internal import Bytes
internal import Compressors
internal import Configuration
package import Events
internal import Policy
internal import RPC
internal import Telemetry
package import Time

/// Sends the spans of the process to a receiver of OTLP over HTTP, batch by batch.
///
/// No call waits for it. Belongs to one thread.
package final class SpanExporter {
    private let loop: EventLoop
    private let fetcher: Fetcher
    private let buffer: SpanBuffer
    private let log: (LogMessage) -> Void
    private var plan: TelemetryPlan?
    private var state = SpanExportState()
    private var random = Xoshiro256()
    /// The batch that is under way, or waits to be retried.
    private var batch: [SpanRecord] = []
    /// What is sent behind it, since it was too large.
    private var rest: [SpanRecord] = []
    private var fetch: Fetch?
    private var timer: Timer?
    private var retryTimer: Timer?
    private var isRetrying = false
    private var flushed: (() -> Void)?
    private var flushTimer: Timer?

    /// How often it is looked whether a batch is full.
    private static let interval = 250 * Duration.millisecond
    private var lastExport = Instant.start

    /// Makes one that sends nothing.
    package init(loop: EventLoop, shared: SharedStore, log: @escaping (LogMessage) -> Void) {
        self.loop = loop
        self.log = log
        fetcher = Fetcher(loop: loop)
        buffer = SpanBuffer.shared(in: shared)
        retryTimer = Timer(on: loop.timers) { [unowned self] in if isRetrying { send() } }
    }

    /// Goes over to a configuration.
    package func use(_ plan: TelemetryPlan?) {
        let isElsewhere = self.plan?.server != plan?.server
        self.plan = plan
        if isElsewhere {
            fetch.take()?.cancel()
            fetcher.drain()
            // What the one before has not taken goes to the new one.
            isRetrying = !batch.isEmpty
            retryTimer?.arm(after: .zero)
        }
        buffer.use(capacity: plan?.queue)
        guard plan != nil else { return end() }
        let timer = self.timer ?? Timer(on: loop.timers) { [unowned self] in look() }
        self.timer = timer
        if !timer.isArmed { timer.arm(after: Self.interval) }
    }

    /// Sends nothing any more.
    package func end() {
        timer?.disarm()
        fetch?.cancel()
        fetch = nil
        (batch, rest, isRetrying) = ([], [], false)
        fetcher.drain()
    }

    /// Sends what there is, and calls `done` then, at the latest after a time.
    package func flush(within limit: Duration, done: @escaping () -> Void) {
        guard plan != nil, buffer.count > 0 || !batch.isEmpty else { return done() }
        flushed = done
        let timer = Timer(on: loop.timers) { [unowned self] in endFlush() }
        flushTimer = timer
        timer.arm(after: limit)
        if fetch == nil { isRetrying ? send() : sendNext() }
    }

    /// How many spans have not been sent.
    package var waiting: Int { batch.count + rest.count + buffer.count }

    private func endFlush() {
        flushTimer.take()?.cancel()
        flushed.take()?()
    }

    /// How many spans have come to what.
    package var counts: [(result: String, count: Int)] {
        [("exported", state.exported), ("failed", state.failed), ("dropped", buffer.dropped)]
    }

    /// Whether it has anything to do.
    package var isUsed: Bool { plan != nil }

    // MARK: Batches

    private func look() {
        guard let plan else { return }
        timer?.arm(after: Self.interval)
        guard fetch == nil, !isRetrying else { return }
        guard buffer.count >= SpanExportState.maxBatch || loop.now - lastExport >= plan.interval else { return }
        sendNext()
    }

    private func sendNext() {
        batch = rest.isEmpty ? buffer.removeFirst(SpanExportState.maxBatch) : rest
        rest = []
        lastExport = loop.now
        guard !batch.isEmpty else { return endFlush() }
        send()
    }

    private func send() {
        guard let plan else { return }
        isRetrying = false
        let body = plan.isJSON ? OTLPJSON.request(batch, plan.resource) : OTLPProtobuf.request(batch, plan.resource)
        var fields = plan.headers
        fields.append(
            FetchRequest.Field(
                "content-type",
                Array((plan.isJSON ? "application/json" : "application/x-protobuf").utf8)
            )
        )
        fields.append(FetchRequest.Field("user-agent", Array("martlet-otlp/\(plan.resource.version)".utf8)))
        let compressed = ByteQueue()
        if plan.compresses {
            Compressor().compress(body.span, as: .gzip, into: compressed)
            fields.append(FetchRequest.Field("content-encoding", Array("gzip".utf8)))
        }
        let content = plan.compresses ? compressed.readable.array : body
        let request = FetchRequest(method: "POST", target: plan.target, fields: fields, body: .bytes(content))
        var isOver = false
        let started = fetcher.fetch(request, from: plan.server, limit: 4 << 20, timeout: plan.timeout) {
            [unowned self] in
            isOver = true
            fetch = nil
            received($0)
        }
        if !isOver { fetch = started }
    }

    private func received(_ result: Result<FetchedResponse, FetchError>) {
        let hadError = state.error != nil
        let step: SpanExportState.Step
        switch result {
        case .success(let response) where 200..<300 ~= response.status:
            step = state.succeeded(batch.count, rejected: plan?.isJSON == true ? 0 : response.rejectedSpans)
        case .success(let response):
            let field = response.fields.first { $0.name == "retry-after" }
            let pause = field.flatMap { RetryAfter.time($0.value.span, now: loop.clock.wall) }
            let text = "the receiver responded with HTTP status \(response.status)"
            step = fail(response.status, text, pause)
        case .failure(let error): step = fail(nil, error.text, nil)
        }
        if let error = state.error, !hadError {
            log(LogMessage(text: "cannot export spans", fields: [("reason", error)]))
        }
        perform(step)
    }

    private func fail(_ status: Int?, _ text: String, _ pause: Duration?) -> SpanExportState.Step {
        state.failed(batch.count, status: status, text, retryAfter: pause, at: loop.now, chance: random.nextFraction())
    }

    private func perform(_ step: SpanExportState.Step) {
        switch step {
        case .next:
            batch = []
            if !rest.isEmpty || flushed != nil || buffer.count >= SpanExportState.maxBatch { sendNext() }
        case .split:
            let half = batch.count / 2
            rest = Array(batch[half...]) + rest
            batch = Array(batch[..<half])
            send()
        case .retry(let pause):
            // Who stops does not wait for one that does not respond.
            if flushed != nil, pause > .second { return endFlush() }
            isRetrying = true
            retryTimer?.arm(after: pause)
        }
    }

}

extension FetchedResponse {
    /// How many spans `ExportTraceServiceResponse { partial_success = 1 { int64 rejected_spans = 1; … } }` rejects.
    fileprivate var rejectedSpans: Int {
        // The tag and the length of the first field, then the tag and the value of the first field in it.
        guard body.count > 3, body[0] == 0x0a, body[2] == 0x08 else { return 0 }
        var value = 0
        for (index, byte) in body.dropFirst(3).prefix(9).enumerated() {
            value |= Int(byte & 0x7f) << (7 * index)
            if byte < 0x80 { return value }
        }
        return 0
    }
}
