private import Synchronization

/// Work that a ``BlockingThread`` does in steps, so that other work need not wait for all of it.
public protocol SteppedWork: SendableMetatype {
    /// The result of the work.
    associatedtype Output: Sendable

    /// Does the next step, which lasts a few hundred microseconds unless a disk makes it wait.
    ///
    /// - Returns: The result, or `nil` if steps remain.
    mutating func step() -> Output?
}

/// A thread for work that may wait, as for a disk, so that no loop does.
///
/// Work in steps takes turns with other work, and ends when its task is cancelled.
public final class BlockingThread: Sendable {
    /// Where files are read for calls; it starts when there is the first, and ends with the process.
    public static let files = BlockingThread(name: "martlet-files")

    /// Where types of messages are made; it starts when there is the first, and ends with the process.
    public static let types = BlockingThread(name: "martlet-types")

    /// The thread that decompresses large messages and reads them as JSON; it starts with the first, and ends with the process.
    public static let messages = BlockingThread(name: "martlet-large")

    /// Where bodies of requests are kept in files; it starts when there is the first, and ends with the process.
    public static let spool = BlockingThread(name: "martlet-spool")

    private let mailbox = Mailbox<Void>()

    init(name: String) {
        let thread = WorkerThread(name: name) { [mailbox] in
            let loop = EventLoop()
            let slot = MailSlot(mailbox, for: (), on: loop)
            withExtendedLifetime(slot) { loop.run() }
        }
        thread.detach()
    }

    /// Does the steps of a job on the thread, each one after the steps that other jobs were waiting to do.
    ///
    /// May be called on any thread.
    ///
    /// - Returns: The result, or `nil` if the task was cancelled first. The steps that had not begun are skipped then.
    func run<Work: SteppedWork>(_ job: BlockingJob<Work>) async -> Work.Output? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { advance(job, $0) }
        } onCancel: {
            job.cancel()
        }
    }

    private func advance<Work: SteppedWork>(
        _ job: BlockingJob<Work>,
        _ continuation: CheckedContinuation<Work.Output?, Never>
    ) {
        mailbox.post { [self] _ in
            switch job.step() {
            case .more: advance(job, continuation)
            case .over(let output): continuation.resume(returning: output)
            }
        }
    }

    /// Frees `value` on the thread, if nobody else has it.
    ///
    /// May be called on any thread.
    public func discard(_ value: some Sendable) {
        mailbox.post { _ in withExtendedLifetime(value) {} }
    }
}

/// Work on its way through a ``BlockingThread``.
///
/// Safe on any thread.
final class BlockingJob<Work: SteppedWork>: Sendable {
    /// The state after a step.
    enum Progress {
        case more
        /// The result, or `nil` if the job was cancelled.
        case over(Work.Output?)
    }

    private let isCancelled = Atomic(false)
    /// The state of the work, or `nil` after the last step, so that the thread frees the state.
    private let work: Locked<Work?>

    init(_ work: sending Work) { self.work = Locked(work) }

    /// Skips the steps that have not begun.
    func cancel() { isCancelled.store(true, ordering: .relaxed) }

    /// Does the next step unless the job was cancelled.
    fileprivate func step() -> Progress {
        let isCancelled = isCancelled.load(ordering: .relaxed)
        return work.withLock { work in
            guard !isCancelled else {
                work = nil
                return .over(nil)
            }
            guard let output = work?.step() else { return .more }
            work = nil
            return .over(output)
        }
    }
}

/// Work of one step.
struct SingleStep<Output: Sendable>: SteppedWork {
    let work: @Sendable () -> Output

    func step() -> Output? { work() }
}
