internal import Events
internal import Time

/// An event that waits in an interceptor.
///
/// Made by a hook, which returns it and resumes it later. Belongs to the worker's thread. The engine ends the call
/// with `deadline_exceeded` if that takes longer than the listener's `timeouts.suspension`.
///
/// A suspension is for one event.
public final class Suspension {
    private enum State {
        case waiting
        case resumed((Suspended) -> Verdict)
        case over
    }

    private var state = State.waiting
    /// Starts the task that ends the suspension, if one does.
    private let start: ((LoopTasks, Suspension) -> LoopTask)?
    private var task: LoopTask?
    private var timer: Timer?
    /// Whether an event waits for it, or has.
    private var isClaimed = false
    /// When the event began to wait.
    private(set) var began = Instant.start
    /// The bytes that are held for what it waits for.
    public var heldBytes: () -> Int = { 0 }
    /// Told when it is resumed once more.
    var resumedAgain: (() -> Void)?
    /// Told when the suspension is resumed.
    var resumed: (() -> Void)?
    /// Called while the event waits, each time that the events after it exceed `limits.held_bytes` or `limits.held_events`.
    public var exceeded: (() -> Void)?
    /// Called once if the call ends before the suspension is resumed: whatever is under way for it is not needed.
    public var canceled: (() -> Void)?

    /// Makes a suspension that `resume` ends.
    public init() {
        start = nil
    }

    /// Makes a suspension that ends when `work` has, with the verdict of `then` on what it returns.
    init<Result: Sendable>(
        _ work: @escaping @Sendable () async -> Result,
        then: @escaping (Result, Suspended) -> Verdict
    ) {
        start = { tasks, suspension in
            tasks.start(work) { [weak suspension] result in suspension?.resume { then(result, $0) } }
        }
    }

    /// Makes a suspension that ends when work on another thread has.
    ///
    /// - Parameters:
    ///   - thread: The thread.
    ///   - work: The work, which is skipped if the call ends before it begins.
    ///   - then: Gets what the work returns, on the worker's thread, before the event goes on.
    init<Result: Sendable>(
        on thread: BlockingThread,
        _ work: @escaping @Sendable () -> Result,
        then: @escaping (Result) -> Void
    ) {
        start = { tasks, suspension in
            tasks.start(on: thread, work) { [weak suspension] result in
                then(result)
                suspension?.resume()
            }
        }
    }

    /// Lets the event go on with `verdict`; once is enough, and what comes later counts for nothing.
    ///
    /// `suspend` is no verdict here: it means `next`.
    public func resume(_ verdict: Verdict = .next) {
        resume { _ in verdict }
    }

    /// Likewise, with a verdict that is made when the event goes on.
    public func resume(_ verdict: @escaping (Suspended) -> Verdict) {
        guard case .waiting = state else {
            if case .resumed = state { resumedAgain?() }
            return
        }
        let resumed = resumed
        end(.resumed(verdict))
        resumed?()
    }

    private func end(_ state: State) {
        self.state = state
        timer?.cancel()
        timer = nil
        resumed = nil
        exceeded = nil
        canceled = nil
        task = nil
    }

    // MARK: What the engine does with it

    /// Takes it for an event; false if it was for another.
    func claim() -> Bool {
        defer { isClaimed = true }
        return !isClaimed
    }

    /// Whether it has been resumed.
    var isResumed: Bool {
        if case .resumed = state { true } else { false }
    }

    /// The call waits from now on, as long as a timer lets it.
    func begin(_ timer: Timer?, at now: Instant, _ tasks: LoopTasks) {
        self.timer = timer
        self.began = now
        task = start?(tasks, self)
    }

    /// The verdict, once there is one.
    func verdict(on suspended: Suspended) -> Verdict? {
        guard case .resumed(let verdict) = state else { return nil }
        let given = verdict(suspended)
        if case .suspend = given { return .next }
        return given
    }

    /// Nobody waits any more.
    func cancel() {
        guard case .waiting = state else { return }
        let (task, canceled) = (task, canceled)
        end(.over)
        task?.cancel()
        canceled?()
    }
}
