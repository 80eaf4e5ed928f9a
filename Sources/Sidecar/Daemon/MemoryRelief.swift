internal import Events
internal import Proxy
internal import Time

/// Has the workers give up memory when the process holds more than it may: first idle connections and what calls keep for a
/// retry, then the stalled calls that hold most, whichever worker has them.
///
/// Belongs to the main thread.
final class MemoryRelief {
    private let budget: MemoryBudget
    private let workers: WorkerPool
    private let loop: EventLoop
    /// Since when more is held than may be.
    private var began = Instant.start
    private var timer: Timer?
    private var isUnderWay = false
    /// Whether the workers have been asked what is stalled and have not said.
    private var isAsking = false
    private var pace = ReliefPace()

    /// Relieves `budget` when told to.
    init(of budget: MemoryBudget, workers: WorkerPool, loop: EventLoop) {
        self.budget = budget
        self.workers = workers
        self.loop = loop
        timer = Timer(on: loop.timers) { [unowned self] in check() }
    }

    deinit {
        timer?.cancel()
    }

    /// Frees memory until the budget is not exhausted any more.
    func relieve() {
        guard !isUnderWay else { return checkSooner() }
        guard budget.isExhausted else { return }
        isUnderWay = true
        began = loop.now
        workers.ask({ worker in
            worker.releaseSpares()
            return true
        }) { [weak self] _ in self?.check() }
    }

    /// A pause that has become long ends early if much more is held since it began.
    private func checkSooner() {
        guard !isAsking, pace.isOvertaken(holding: budget.total, limit: budget.limit) else { return }
        timer?.arm(after: pace.freed(usual: usualPause))
    }

    /// How long a round takes to free what it ends, so that the next one does not end more than it has to.
    private var usualPause: Duration { (budget.isFarExceeded ? 5 : 50) * .millisecond }

    private func check() {
        isUnderWay = budget.isExhausted
        guard isUnderWay else {
            pace = ReliefPace()
            return
        }
        isAsking = true
        let shortest = patience.last ?? .zero
        workers.ask({ worker in
            worker.closeIdleForMemory()
            return worker.stalledMemory(for: shortest)
        }) { [weak self] stalled in self?.shed(stalled) }
    }

    /// For how long calls have to be stalled to end.
    ///
    /// In a shortage that lasts, whoever holds most counts as stalled: a caller who takes a byte now and then would else make
    /// it last.
    private var patience: [Duration] {
        loop.now - began > Self.longShortage ? budget.patience + [.zero] : budget.patience
    }

    private static let longShortage = 2 * Duration.second

    private func shed(_ stalled: [Int: [StalledMemory]]) {
        isAsking = false
        if let choice = StalledMemory.choice(of: stalled, freeing: budget.excess, patience: patience) {
            workers.post(each: { index in
                let count = choice.counts[index] ?? 0
                return { worker in if count > 0 { worker.shedStalled(count, for: choice.time) } }
            })
            timer?.arm(after: pace.freed(usual: usualPause))
        } else {
            timer?.arm(after: pace.foundNothing(holding: budget.total, usual: usualPause))
        }
    }
}
