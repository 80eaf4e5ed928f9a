/// A task on a loop's thread.
public typealias LoopTask = Task<Void, Never>

/// Runs tasks on a loop's thread, one step after the other, beside what the loop does.
///
/// Belongs to the thread of its loop; its executor takes jobs from any thread.
public final class LoopTasks {
    private let executor = LoopExecutor()
    private let slot: MailSlot<Void>

    /// Makes what runs tasks on `loop`, which has to live longer than they do.
    public init(on loop: EventLoop) {
        slot = MailSlot(executor.mailbox, for: (), on: loop)
    }

    /// Starts `work`; `then` gets what it returns, on the loop's thread.
    ///
    /// Nothing is told of a task that was cancelled.
    public func start<Result: Sendable>(
        _ work: @escaping @Sendable () async -> Result,
        then: @escaping (Result) -> Void
    ) -> LoopTask {
        let then = Confined(value: then)
        return Task(executorPreference: executor) {
            let result = await work()
            if !Task.isCancelled { then.value(result) }
        }
    }

    /// Starts `work` on another thread, in steps; `then` gets the result on the loop's thread.
    ///
    /// To cancel the task skips the steps that have not begun, and the call of `then`.
    public func start<Work: SteppedWork>(
        _ work: sending Work,
        on thread: BlockingThread,
        then: @escaping (Work.Output) -> Void
    ) -> LoopTask {
        let job = BlockingJob(work)
        return start({ await thread.run(job) }, then: { if let output = $0 { then(output) } })
    }

    /// Starts `work` on another thread as one step; `then` gets the result on the loop's thread.
    ///
    /// To cancel the task skips work that has not begun, and the call of `then`.
    public func start<Result: Sendable>(
        on thread: BlockingThread,
        _ work: @escaping @Sendable () -> Result,
        then: @escaping (Result) -> Void
    ) -> LoopTask {
        start(SingleStep(work: work), on: thread, then: then)
    }
}

/// Runs the jobs of tasks when the loop opens its letters.
private final class LoopExecutor: TaskExecutor {
    let mailbox = Mailbox<Void>()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        mailbox.post { [self] _ in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}

/// A value that stays on the loop's thread, though the compiler does not see it: only jobs of its executor touch it.
private struct Confined<Value>: @unchecked Sendable {
    let value: Value
}
