internal import Events
internal import Proxy
internal import Telemetry
internal import Time

/// The workers, each on a thread of its own, reached by letters.
final class WorkerPool {
    /// How long a worker is waited for that does not respond.
    static let patience = Duration.second

    private let mailboxes: [Mailbox<Worker>]
    private let control: Mailbox<Daemon>
    private var threads: [WorkerThread] = []
    private let loop: EventLoop
    private var asked: [Int: Gathering] = [:]
    private var nextQuestion = 0
    private var subscriptions: [Int: Subscription] = [:]
    private var nextSubscription = 0

    /// Responses on their way, by the indices of the workers.
    private struct Gathering {
        var responses: [Int: any Sendable] = [:]
        var timer: Timer?
        let then: ([Int: any Sendable]) -> Void
    }

    /// Starts `count` workers; their responses come by `control`, which `loop` opens.
    init(
        count: Int,
        loop: EventLoop,
        control: Mailbox<Daemon>,
        lineWriters: LineWriters,
        budgets: Budgets
    ) {
        self.loop = loop
        self.control = control
        mailboxes = (0..<count).map { _ in Mailbox() }
        threads = mailboxes.enumerated().map { index, mailbox in
            WorkerThread(name: Self.name(of: index)) {
                Self.work(index, mailbox, control, lineWriters, budgets)
            }
        }
    }

    /// The number of workers.
    var count: Int { mailboxes.count }

    /// The name of a worker's thread.
    static func name(of index: Int) -> String { "martlet-\(index)" }

    /// The life of a worker's thread.
    private static func work(
        _ index: Int,
        _ mailbox: Mailbox<Worker>,
        _ control: Mailbox<Daemon>,
        _ lineWriters: LineWriters,
        _ budgets: Budgets
    ) {
        let loop = EventLoop()
        let worker = Worker(
            loop: loop,
            lineWriters: lineWriters,
            shared: budgets.shared,
            descriptors: budgets.descriptors,
            memory: budgets.memory,
            credentialRequests: { request in control.post { $0.handle(request) } },
            requestTypes: { control.post { $0.reflection?.request() } },
            discard: { routes, plan in
                control.post { _ in
                    routes.empty()
                    withExtendedLifetime(plan) {}
                }
            },
            report: { message in control.post { $0.log.log(message) } },
            askForDescriptors: { control.post { $0.workers?.post(others: index) { $0.closeIdleConnections() } } },
            askForMemory: { control.post { $0.workers?.post(others: index) { $0.makeRoomForConnections() } } },
            relieveMemory: { control.post { $0.relieveMemory() } }
        )
        let slot = MailSlot(mailbox, for: worker, on: loop)
        withExtendedLifetime(slot) { loop.run() }
    }

    /// Lets every worker do something.
    func post(_ letter: @escaping @Sendable (Worker) -> Void) {
        for mailbox in mailboxes { mailbox.post(letter) }
    }

    /// Lets every worker but one do something.
    func post(others index: Int, _ letter: @escaping @Sendable (Worker) -> Void) {
        for (other, mailbox) in mailboxes.enumerated() where other != index { mailbox.post(letter) }
    }

    /// Lets each worker do something of its own; the index is the worker's.
    func post(each letter: (Int) -> @Sendable (Worker) -> Void) {
        for (index, mailbox) in mailboxes.enumerated() { mailbox.post(letter(index)) }
    }

    /// Asks all workers; `then` gets the responses, by the indices of the workers, on the control thread.
    ///
    /// It is called when all are there, or with those that are there after `limit`, since a worker may be stuck; without a
    /// limit all of them are waited for.
    func ask<Response: Sendable>(
        _ question: @escaping @Sendable (Worker) -> Response,
        within limit: Duration? = patience,
        then: @escaping ([Int: Response]) -> Void
    ) {
        let number = nextQuestion
        nextQuestion += 1
        var gathering = Gathering { responses in then(responses.compactMapValues { $0 as? Response }) }
        if let limit {
            gathering.timer = Timer(on: loop.timers) { [unowned self] in finish(number) }
            gathering.timer?.arm(after: limit)
        }
        asked[number] = gathering
        let control = control
        post(each: { index in
            { worker in
                let response = question(worker)
                control.post { $0.workers?.received(number, by: index, response) }
            }
        })
    }

    /// Asks one worker for a sign of life; `then` is called on the control thread.
    func ask(_ index: Int, then: @escaping () -> Void) {
        let number = nextQuestion
        nextQuestion += 1
        asked[number] = Gathering { _ in then() }
        let control = control
        mailboxes[index].post { _ in control.post { $0.workers?.finish(number) } }
    }

    private func received(_ number: Int, by index: Int, _ response: any Sendable) {
        asked[number]?.responses[index] = response
        if asked[number]?.responses.count == count { finish(number) }
    }

    private func finish(_ number: Int) {
        guard let gathering = asked.removeValue(forKey: number) else { return }
        if let timer = gathering.timer {
            timer.cancel()
            // It may be its own callback that leads here.
            loop.keep(timer)
        }
        gathering.then(gathering.responses)
    }

    // MARK: What workers publish

    /// Calls `onItem` on the control thread with what all workers publish on a topic.
    ///
    /// The lines of one worker come in order. If the control thread is stuck, a worker holds a bounded number of bytes and
    /// counts the lines that it drops.
    ///
    /// - Returns: what ends the subscription: after it nothing is delivered.
    func subscribe(to topic: Topic, onItem: @escaping (LineBuffer.Item) -> Void) -> () -> Void {
        let number = nextSubscription
        nextSubscription += 1
        let control = control
        let handovers = mailboxes.indices.map { index in
            LineHandover { control.post { $0.workers?.deliver(number, from: index) } }
        }
        subscriptions[number] = Subscription(to: topic, handovers, onItem: onItem)
        post(each: { index in { $0.subscribe(handovers[index], to: topic) } })
        return { [unowned self] in unsubscribe(number) }
    }

    private func deliver(_ number: Int, from index: Int) {
        subscriptions[number]?.deliver(from: index)
    }

    private func unsubscribe(_ number: Int) {
        guard let subscription = subscriptions.removeValue(forKey: number) else { return }
        subscription.cancel()
        let (topic, handovers) = (subscription.topic, subscription.handovers)
        post(each: { index in { $0.unsubscribe(handovers[index], from: topic) } })
    }

    /// Ends the calls that are left and all loops, and waits for the threads, but not for long.
    ///
    /// - Parameter question: what each worker is asked when its calls have ended.
    /// - Returns: the names of the threads that have not ended, and the responses by the indices of the workers.
    func stop<Response: Sendable>(
        _ question: @escaping @Sendable (Worker) -> Response
    ) -> (stuck: [String], responses: [Int: Response]) {
        let responses = Locked<[Int: Response]>([:])
        post(each: { index in
            { worker in
                worker.abandon()
                let response = question(worker)
                responses.withLock { $0[index] = response }
                // After this turn, in which what the calls' ends have written goes out.
                worker.context.loop.stop()
            }
        })
        let end = Clock.system.now + Self.patience
        let stuck = threads.indices.filter { !threads[$0].join(within: max(.zero, end - Clock.system.now)) }
        return (stuck.map(Self.name), responses.withLock { $0 })
    }
}
