import Glibc
import Testing
import Time

@testable import Events

@Suite struct BlockingThreadTests {
    @Test func `work takes turns with work that was posted later`() {
        let thread = StoppedThread()
        let log = Locked<[String]>([])
        thread.post(CountedWork("long", steps: 3, log))
        thread.post(CountedWork("short", steps: 1, log))
        thread.run(until: 2)
        #expect(log.withLock { $0 } == ["long 1", "short 1", "long 2", "long 3"])
        #expect(thread.results == ["short", "long"])
    }

    @Test func `work that was cancelled before it begins is skipped`() {
        let thread = StoppedThread()
        let log = Locked<[String]>([])
        thread.post(CountedWork("gone", steps: 1, log)).cancel()
        thread.post(CountedWork("here", steps: 1, log))
        thread.run(until: 1)
        #expect(log.withLock { $0 } == ["here 1"])
        #expect(thread.results == ["here"])
    }

    @Test func `work that is cancelled between two steps ends there`() {
        let thread = StoppedThread()
        let log = Locked<[String]>([])
        let task = Locked<LoopTask?>(nil)
        let cancelled = thread.post(
            CountedWork("endless", steps: .max, log) { if $0 == 2 { task.withLock { $0?.cancel() } } }
        )
        task.withLock { $0 = cancelled }
        // Two more steps than the endless work, were that to continue.
        thread.post(CountedWork("other", steps: 4, log))
        thread.run(until: 1)
        #expect(log.withLock { $0.filter { $0.hasPrefix("endless") } } == ["endless 1", "endless 2"])
    }

    @Test func `cancelled work is freed on the thread`() {
        let thread = StoppedThread()
        let log = Locked<[String]>([])
        let freed = Locked<String?>(nil)
        thread.post(CountedWork("gone", steps: 1, log, held: ThreadRecorder(freed))).cancel()
        thread.post(CountedWork("here", steps: 1, log))
        thread.run(until: 1)
        #expect(freed.withLock { $0 } == "martlet-test\n")
    }
}

/// A blocking thread that does nothing before `run`, and the loop whose tasks wait for it.
private final class StoppedThread {
    private let thread = BlockingThread(name: "martlet-test")
    private let loop = EventLoop()
    private lazy var tasks = LoopTasks(on: loop)
    private let isOpen = Locked(false)
    private(set) var results: [String] = []

    init() {
        // The first work on the thread waits until all other work has been posted.
        _ = tasks.start(on: thread) { [isOpen] in
            while !isOpen.withLock({ $0 }) { usleep(1000) }
        } then: {
        }
        // The task begins when the loop runs.
        loop.turn(waiting: false)
    }

    @discardableResult
    func post(_ work: CountedWork) -> LoopTask {
        defer { loop.turn(waiting: false) }
        return tasks.start(work, on: thread) { [unowned self] in results.append($0) }
    }

    /// Lets the thread work, and runs the loop until so many results are there.
    func run(until count: Int) {
        isOpen.withLock { $0 = true }
        while results.count < count { loop.turn() }
    }
}

/// Work of some steps, each of which is logged.
private struct CountedWork: SteppedWork, Sendable {
    private let name: String
    private let steps: Int
    private let log: Locked<[String]>
    private let onStep: @Sendable (Int) -> Void
    private let held: ThreadRecorder?
    private var done = 0

    init(
        _ name: String,
        steps: Int,
        _ log: Locked<[String]>,
        held: ThreadRecorder? = nil,
        onStep: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        (self.name, self.steps, self.log, self.held, self.onStep) = (name, steps, log, held, onStep)
    }

    mutating func step() -> String? {
        done += 1
        log.withLock { $0.append("\(name) \(done)") }
        onStep(done)
        return done == steps ? name : nil
    }
}

/// Records the name of the thread that frees it.
private final class ThreadRecorder: Sendable {
    private let name: Locked<String?>

    init(_ name: Locked<String?>) { self.name = name }

    deinit {
        let content = (try? SmallFile.read("/proc/thread-self/comm", limit: 64).get()) ?? []
        name.withLock { $0 = String(decoding: content, as: UTF8.self) }
    }
}
