internal import Events
internal import Policy
internal import RPC
internal import Telemetry
internal import Time

/// Sends batches to a receiver of OTLP over HTTP, one after the other.
///
/// No call waits for it. Belongs to one thread.
final class OTLPSender<Batch: OTLPBatch> {
    private let loop: EventLoop
    private let fetcher: Fetcher
    private let log: (LogMessage) -> Void
    private let next: (_ isLast: Bool) -> Batch?
    private var receiver: OTLPReceiver?
    private var state = ExportState()
    private var random = Xoshiro256()
    /// The batch that is under way, or waits for the end of a pause.
    private var batch: Batch?
    /// What is sent behind it, since it was too large.
    private var rest: [Batch] = []
    /// What makes it, and what is behind it, of no use.
    private var successor: Batch?
    private var fetch: Fetch?
    private var retryTimer: Timer?
    private var isRetrying = false
    private var flushed: (() -> Void)?
    private var flushTimer: Timer?
    /// How much was left out, since something newer stood for it.
    private(set) var replaced = 0
    /// The maximum number of bytes of a response, which has at most a count and a sentence.
    static var maxResponse: Int { 64 * 1024 }

    /// Makes one that sends nothing.
    ///
    /// - Parameters:
    ///   - loop: the loop of its thread.
    ///   - log: where errors go.
    ///   - next: what is asked for a batch after each one; the last ones are those before the end of the process.
    init(loop: EventLoop, log: @escaping (LogMessage) -> Void, next: @escaping (_ isLast: Bool) -> Batch?) {
        self.loop = loop
        self.log = log
        self.next = next
        fetcher = Fetcher(loop: loop)
        retryTimer = Timer(on: loop.timers) { [unowned self] in if isRetrying { post() } }
    }

    /// Goes over to a receiver; without one, nothing is sent any more.
    func use(_ receiver: OTLPReceiver?) {
        let isElsewhere = self.receiver?.server != receiver?.server
        self.receiver = receiver
        guard receiver != nil else { return end() }
        guard isElsewhere else { return }
        fetch.take()?.cancel()
        fetcher.drain()
        // What the one before has not accepted goes to the new one.
        isRetrying = batch != nil
        retryTimer?.arm(after: .zero)
    }

    /// Drops what has not been sent.
    func end() {
        fetch.take()?.cancel()
        (batch, rest, successor, isRetrying) = (nil, [], nil, false)
        fetcher.drain()
    }

    /// Whether nothing is under way.
    var isIdle: Bool { batch == nil }

    /// How much waits or is under way.
    var waiting: Int { ((batch.map { [$0] } ?? []) + rest).reduce(0) { $0 + $1.count } }

    /// How much has been exported, and how much has failed.
    var counts: (exported: Int, failed: Int) { (state.exported, state.failed) }

    /// Sends what `next` has.
    func sendNext() {
        guard let new = takeNext() else { return endFlush() }
        batch = new
        post()
    }

    private func takeNext() -> Batch? {
        rest.isEmpty ? successor.take() ?? next(flushed != nil) : rest.removeFirst()
    }

    /// Sends a batch, in the place of all that have not been sent yet.
    func send(replacing new: Batch) {
        guard fetch == nil else {
            replaced += successor?.count ?? 0
            successor = new
            return
        }
        replaced += waiting
        (batch, rest) = (new, [])
        if !isRetrying { post() }
    }

    /// Sends what there is, and calls `done` then, at the latest after a time.
    func flush(within limit: Duration, done: @escaping () -> Void) {
        flushed = done
        let timer = Timer(on: loop.timers) { [unowned self] in endFlush() }
        flushTimer = timer
        timer.arm(after: limit)
        guard fetch == nil else { return }
        isRetrying ? post() : sendNext()
    }

    private func endFlush() {
        flushTimer.take()?.cancel()
        flushed.take()?()
    }

    // MARK: Requests

    private func post() {
        guard let receiver, let batch else { return }
        isRetrying = false
        var isOver = false
        let request = receiver.request(batch.body(isJSON: receiver.isJSON, receiver.resource))
        let (server, limit, timeout) = (receiver.server, Self.maxResponse, receiver.timeout)
        let started = fetcher.fetch(request, from: server, limit: limit, timeout: timeout) { [unowned self] in
            isOver = true
            fetch = nil
            received($0, isJSON: receiver.isJSON)
        }
        if !isOver { fetch = started }
    }

    private func received(_ result: Result<FetchedResponse, FetchError>, isJSON: Bool) {
        guard let batch else { return }
        let hadError = state.error != nil
        let step: ExportState.Step
        switch result {
        case .success(let response) where 200..<300 ~= response.status:
            let partial = PartialSuccess(response.body, isJSON: isJSON)
            step = state.succeeded(batch.count, rejected: batch.failed(partial.rejected), Self.text(of: partial))
        case .success(let response):
            let field = response.fields.first { $0.name == "retry-after" }
            let pause = field.flatMap { RetryAfter.time($0.value.span, now: loop.clock.wall) }
            let text = "the receiver responded with HTTP status \(response.status)"
            step = fail(batch, response.status, text, pause)
        // A response that is too long is the same the next time.
        case .failure(let error) where error.code == .resourceExhausted: step = state.gaveUp(batch.count, error.text)
        case .failure(let error): step = fail(batch, nil, error.text, nil)
        }
        if let error = state.error, !hadError {
            log(LogMessage(text: "cannot export \(Batch.noun)", fields: [("reason", error)]))
        }
        perform(step)
    }

    private static func text(of partial: PartialSuccess) -> String? {
        guard partial.rejected > 0 else { return nil }
        let reason = partial.message.isEmpty ? "" : ": \(partial.message.prefix(200))"
        return "the receiver rejected \(partial.rejected) \(Batch.items)\(reason)"
    }

    private func fail(_ batch: Batch, _ status: Int?, _ text: String, _ pause: Duration?) -> ExportState.Step {
        state.failed(
            batch.count,
            isSplittable: batch.halves != nil,
            status: status,
            text,
            retryAfter: pause,
            at: loop.now,
            chance: random.nextFraction()
        )
    }

    private func perform(_ step: ExportState.Step) {
        switch step {
        case .next:
            batch = nil
            sendNext()
        case .skip(let pause):
            batch = takeNext()
            guard batch != nil else { return endFlush() }
            postLater(after: pause)
        case .split(let pause):
            guard let (first, second) = batch?.halves else { return }
            batch = first
            rest.insert(second, at: 0)
            postLater(after: pause)
        case .retry(let pause):
            if let newer = successor.take() {
                replaced += waiting
                (batch, rest) = (newer, [])
                // The last snapshot is sent once at least.
                if flushed != nil { return post() }
            }
            postLater(after: pause)
        }
    }

    private func postLater(after pause: Duration) {
        // A stop does not wait for a receiver that does not respond.
        if flushed != nil, pause > .second { return endFlush() }
        isRetrying = true
        retryTimer?.arm(after: pause)
    }
}
