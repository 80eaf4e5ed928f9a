/// A thread for work that may wait, as for a disk, so that no loop does.
public final class BlockingThread: Sendable {
    /// Where files are read for calls; it starts when there is the first, and ends with the process.
    public static let files = BlockingThread(name: "martlet-files")

    /// Where types of messages are made; it starts when there is the first, and ends with the process.
    public static let types = BlockingThread(name: "martlet-types")

    /// Where bodies of requests are kept in files; it starts when there is the first, and ends with the process.
    public static let spool = BlockingThread(name: "martlet-spool")

    private let mailbox = Mailbox<Void>()

    private init(name: String) {
        let thread = WorkerThread(name: name) { [mailbox] in
            let loop = EventLoop()
            let slot = MailSlot(mailbox, for: (), on: loop)
            withExtendedLifetime(slot) { loop.run() }
        }
        thread.detach()
    }

    /// What `work` returns, done on the thread after all that came before it.
    ///
    /// May be called on any thread.
    public func run<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            mailbox.post { _ in continuation.resume(returning: work()) }
        }
    }

    /// Frees `value` on the thread, if nobody else has it.
    ///
    /// May be called on any thread.
    public func discard(_ value: some Sendable) {
        mailbox.post { _ in withExtendedLifetime(value) {} }
    }
}
