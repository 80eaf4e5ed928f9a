internal import Configuration
internal import Events
internal import Proxy
internal import Time

/// A stop under way: sees to it that workers and sockets do what `DrainSteps` says.
///
/// Belongs to the main thread.
final class Drain {
    private struct Counts: Sendable {
        let leaving: Int
        let open: Int
        let lingering: Int
    }

    private static let interval = 20 * Duration.millisecond
    /// How long the stop may take; nil is for ever.
    let limit: Duration?

    private let loop: EventLoop
    private let workers: WorkerPool
    private let listeners: ListenerSet
    private let log: OperationalLog
    private let then: (Exit) -> Void
    private let held: Set<String>
    private var steps: DrainSteps
    private var timer: Timer?

    /// Begins to stop; `then` is called when the process can end.
    ///
    /// From now on responses of HTTP/1.1 say that their connections close.
    init(
        _ settings: DrainSettings,
        loop: EventLoop,
        workers: WorkerPool,
        listeners: ListenerSet,
        log: OperationalLog,
        then: @escaping (Exit) -> Void
    ) {
        self.loop = loop
        self.workers = workers
        self.listeners = listeners
        self.log = log
        self.then = then
        let held = listeners.held
        self.held = held
        let (minTime, maxTime) = (settings.min, settings.max)
        let handover = settings.handover
        limit = held.isEmpty ? maxTime : maxTime.flatMap { maxTime in handover.map { maxTime + $0 } }
        steps = DrainSteps(at: loop.now, minTime: minTime, maxTime: maxTime, handover: handover, holds: !held.isEmpty)
        let others = listeners.acceptedByOthers
        workers.post { $0.announceClose(others: others) }
        timer = Timer(on: loop.timers) { [unowned self] in check() }
        timer?.arm(after: minTime)
    }

    /// Asks the workers how far they are, and takes the next step.
    private func check() {
        workers.ask(
            { Counts(leaving: $0.leavingCount, open: $0.connectionCount, lingering: $0.lingeringCount) }
        ) { [self] responses in
            let counts = responses.values
            // A worker that does not respond may have calls.
            let stuck = workers.count - counts.count
            let open = counts.reduce(stuck) { $0 + $1.open }
            let (leaving, lingering) = counts.reduce((stuck, 0)) { ($0.0 + $1.leaving, $0.1 + $1.lingering) }
            perform(steps.next(at: loop.now, leaving: leaving, open: open, lingering: lingering), open: open)
        }
    }

    private func perform(_ step: DrainSteps.Step, open: Int) {
        switch step {
        case .wait:
            timer?.arm(after: Self.interval)
        case .closeOwn:
            let held = held
            workers.post { $0.stopListening(except: held) }
            workers.ask({ _ in true }) { [self] responses in
                // A worker that has not answered may still use them; they close with the process then.
                if responses.count == workers.count { listeners.close(except: held) }
                check()
            }
        case .cutOff:
            log.log(.warn, "drain time limit exceeded", ("connections", "\(open)"))
            workers.post { $0.abandonLeaving() }
            check()
        case .closeHeld:
            log.log(.info, "handing over", ("connections", "\(open)"))
            workers.post { $0.drain() }
            check()
        case .end:
            if open > 0, !steps.isClean { log.log(.warn, "drain time limit exceeded", ("connections", "\(open)")) }
            then(steps.isClean ? .success : .cutOff)
        }
    }
}
