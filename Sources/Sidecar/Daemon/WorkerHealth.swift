internal import Configuration
internal import Events
internal import Time

/// Whether the workers turn their loops: each is asked again and again, and one that does not respond is stuck.
///
/// Time is counted in rounds of the main loop, not by the clock, so that a stop of the whole process accuses nobody.
/// Belongs to the main thread.
final class WorkerHealth {
    /// After so many rounds without a response a worker is stuck.
    private static let rounds = 4

    private let pool: WorkerPool
    private let log: OperationalLog
    private let changed: () -> Void
    private let interval: Duration
    private var timer: Timer?
    /// For each worker the rounds that its response is missing; none if it has responded.
    private var missing: [Int?]

    /// Starts to ask; a worker that does not respond for `limit` is stuck.
    ///
    /// `changed` is called when a worker is stuck, and when it responds again.
    init(_ pool: WorkerPool, loop: EventLoop, limit: Duration, log: OperationalLog, changed: @escaping () -> Void) {
        self.changed = changed
        self.pool = pool
        self.log = log
        interval = limit / Self.rounds
        missing = Array(repeating: nil, count: pool.count)
        timer = Timer(on: loop.timers) { [unowned self] in ask() }
        ask()
    }

    deinit {
        timer?.cancel()
    }

    /// What is wrong, for people; none if all workers respond.
    var problem: String? {
        let stuck = missing.indices.filter(isStuck).map { index in
            let seconds = ((missing[index] ?? 0) * interval).seconds
            return "worker \(WorkerPool.name(of: index)) has not responded for \(seconds) s"
        }
        return stuck.isEmpty ? nil : stuck.joined(separator: "; ")
    }

    private func isStuck(_ index: Int) -> Bool {
        missing[index] ?? 0 >= Self.rounds
    }

    private func ask() {
        for index in missing.indices {
            if let rounds = missing[index] {
                missing[index] = rounds + 1
                if rounds + 1 == Self.rounds, let problem {
                    log.log(.error, "worker stuck", ("reason", problem))
                    changed()
                }
            } else {
                missing[index] = 0
                pool.ask(index) { [weak self] in self?.responded(index) }
            }
        }
        timer?.arm(after: interval)
    }

    private func responded(_ index: Int) {
        let wasStuck = isStuck(index)
        missing[index] = nil
        guard wasStuck else { return }
        log.log(.info, "worker responds again", ("worker", WorkerPool.name(of: index)))
        changed()
    }
}
