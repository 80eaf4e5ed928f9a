internal import Events
internal import Proxy

/// Has the workers end stalled calls when the process holds more for calls than it may: those that hold most, whichever
/// worker has them.
///
/// Belongs to the main thread.
final class MemoryRelief {
    private let budget: MemoryBudget
    private let workers: WorkerPool
    private var timer: Timer?
    private var isUnderWay = false

    /// Relieves `budget` when told to.
    init(of budget: MemoryBudget, workers: WorkerPool, loop: EventLoop) {
        self.budget = budget
        self.workers = workers
        timer = Timer(on: loop.timers) { [unowned self] in begin() }
    }

    deinit {
        timer?.cancel()
    }

    /// Ends as many stalled calls as it takes, again and again until the budget is not exhausted any more.
    func relieve() {
        guard !isUnderWay else { return }
        begin()
    }

    private func begin() {
        isUnderWay = budget.isExhausted
        guard isUnderWay else { return }
        workers.ask({ $0.stalledBytes }) { [weak self] answers in self?.shed(answers.values.flatMap { $0 }) }
    }

    private func shed(_ stalled: [Int]) {
        if let least = Self.threshold(stalled, freeing: budget.excess) {
            workers.tell { $0.shedStalled(holding: least) }
        }
        // By then it is given up, and other calls may have turned out to be stalled.
        timer?.arm(after: budget.patience / 2)
    }

    /// How much a call has to hold to be among the largest that free so many bytes together; nil if none is to end.
    static func threshold(_ stalled: [Int], freeing bytes: Int) -> Int? {
        var left = bytes
        var least: Int?
        for held in stalled.sorted(by: >) where left > 0 && held > 0 {
            left -= held
            least = held
        }
        return least
    }
}
