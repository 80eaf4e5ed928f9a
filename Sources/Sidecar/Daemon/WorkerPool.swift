internal import Events
internal import Proxy

/// The workers, each on a thread of its own, reached by letters.
final class WorkerPool {
    private let mailboxes: [Mailbox<Worker>]
    private let control: Mailbox<Daemon>
    private var threads: [WorkerThread] = []
    private var asked: [Int: Gathering] = [:]
    private var nextQuestion = 0

    /// Answers on their way.
    private struct Gathering {
        var answers: [any Sendable] = []
        let then: ([any Sendable]) -> Void
    }

    /// Starts `count` workers; their answers come by `control`.
    init(count: Int, control: Mailbox<Daemon>, lineWriters: LineWriters, registry: Registry) {
        self.control = control
        let limits = LimitStore()
        mailboxes = (0..<count).map { _ in Mailbox() }
        threads = mailboxes.enumerated().map { index, mailbox in
            WorkerThread(name: "martlet-\(index)") { Self.work(mailbox, control, lineWriters, registry, limits) }
        }
    }

    /// The number of workers.
    var count: Int { mailboxes.count }

    /// The life of a worker's thread.
    private static func work(
        _ mailbox: Mailbox<Worker>,
        _ control: Mailbox<Daemon>,
        _ lineWriters: LineWriters,
        _ registry: Registry,
        _ limits: LimitStore
    ) {
        let loop = EventLoop()
        let worker = Worker(
            loop: loop,
            lineWriters: lineWriters,
            limits: limits,
            kinds: registry,
            orders: { order in control.post { $0.credentials?.take(order) } },
            discard: { routes in control.post { _ in routes.empty() } },
            tell: { notice in control.post { $0.log.log(notice) } }
        )
        let slot = MailSlot(mailbox, for: worker, on: loop)
        withExtendedLifetime(slot) { loop.run() }
    }

    /// Lets every worker do something.
    func tell(_ letter: @escaping @Sendable (Worker) -> Void) {
        for mailbox in mailboxes { mailbox.post(letter) }
    }

    /// Lets each worker do something of its own; the index is the worker's.
    func tell(each letter: (Int) -> @Sendable (Worker) -> Void) {
        for (index, mailbox) in mailboxes.enumerated() { mailbox.post(letter(index)) }
    }

    /// Asks all workers; `then` gets the answers when all are there, on the control thread.
    func ask<Answer: Sendable>(_ question: @escaping @Sendable (Worker) -> Answer, then: @escaping ([Answer]) -> Void) {
        let number = nextQuestion
        nextQuestion += 1
        asked[number] = Gathering { answers in then(answers.compactMap { $0 as? Answer }) }
        let control = control
        tell { worker in
            let answer = question(worker)
            control.post { $0.workers?.answered(number, answer) }
        }
    }

    private func answered(_ number: Int, _ answer: any Sendable) {
        asked[number]?.answers.append(answer)
        guard let gathering = asked[number], gathering.answers.count == count else { return }
        asked[number] = nil
        gathering.then(gathering.answers)
    }

    /// Ends the calls that are left and all loops, and waits for the threads.
    func stop() {
        tell { worker in
            worker.abandon()
            // After this turn, in which what the calls' ends have written goes out.
            worker.context.loop.stop()
        }
        for thread in threads { thread.join() }
        threads = []
    }
}
