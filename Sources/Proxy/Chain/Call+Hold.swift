internal import Bytes
internal import Events
internal import HTTP
internal import Protocols
internal import RPC
internal import Telemetry
internal import Time

/// What happens where an interceptor has suspended an event: it waits there, and what comes later waits behind it, until it
/// is resumed.
extension Call {
    func suspend(
        _ suspension: Suspension,
        _ index: Int,
        _ event: ChainEvent,
        _ bytes: Span<UInt8>,
        _ direction: Direction
    ) {
        guard suspension.claim() else { return rejected(reuseError(index), at: index, event, direction) }
        hold(event, bytes, direction, at: index, .suspended(suspension))
        begin(suspension, index, direction)
        if case .requestHead = event, !suspension.isResumed, mayWaitForBody(index) { askForBody() }
    }

    /// Whether a link gets the body of a request while it holds the head, so that it may hold the head until then.
    private func mayWaitForBody(_ index: Int) -> Bool {
        let link = run.chain.links[index]
        return !link.isSerial && !link.events.isDisjoint(with: [.requestMessages, .requestEnd])
    }

    /// Lets the end of a response wait for its head, which was shown late.
    func suspendHead(_ suspension: Suspension, _ index: Int, _ end: ChainEvent) {
        guard suspension.claim() else { return rejected(reuseError(index), at: index, end, .response) }
        hold(end, Span(), .response, at: index, .headSuspended(suspension))
        begin(suspension, index, .response)
    }

    private func reuseError(_ index: Int) -> RPCError {
        RPCError(.internal, "interceptor \(run.chain.links[index].name) used one suspension for two events")
    }

    func begin(_ suspension: Suspension, _ index: Int, _ direction: Direction) {
        let (counters, counter) = (worker.counters, run.chain.links[index].counter)
        counters.verdict(counter, .suspend)
        suspension.resumedAgain = { counters.verdict(counter, .late) }
        guard !suspension.isResumed else { return wasResumed(direction, index) }
        suspension.resumed = { [unowned self] in wasResumed(direction, index) }
        let timer = Timer(on: worker.context.loop.timers) { [unowned self] in
            worker.counters.limitHit(.suspension)
            let name = run.chain.links[index].name
            fail(RPCError(.deadlineExceeded, "interceptor \(name) exceeded timeouts.suspension"), by: .martlet)
        }
        timer.arm(after: callerLeg.listener.suspensionTimeout)
        ledger.wait(index, at: worker.context.loop.now)
        suspension.begin(timer, at: worker.context.loop.now, worker.services.tasks)
    }

    func hold(
        _ event: ChainEvent,
        _ bytes: Span<UInt8>,
        _ direction: Direction,
        at index: Int,
        _ state: HoldQueue.HeldEvent.State
    ) {
        if case .bytes = event, case .ready = state, flows[direction].queues.append(bytes, at: index) {
            return boundHeld(direction, at: index)
        }
        var kept: ByteQueue?
        switch event {
        case .message(let message):
            message.hold(bytes)
            lostMessage(message, direction)
        case .bytes:
            let queue = worker.acquireQueue()
            queue.append(bytes)
            kept = queue
        case .requestHead: measureWaitingRequest()
        default: break
        }
        flows[direction].queues.hold(HoldQueue.HeldEvent(event: event, bytes: kept, state: state), at: index)
        boundHeld(direction, at: index)
    }

    /// Pauses the source if too much is held, and reports that to the first suspension at the index.
    func boundHeld(_ direction: Direction, at index: Int) {
        if flows[direction].queues.events > callerLeg.listener.heldEventLimit
            || flows[direction].queues.bytes > callerLeg.listener.heldByteLimit
        {
            pauseSource(of: direction)
            let first = flows[direction].queues.queue(at: index)?.events.first
            first?.state.suspension?.exceeded?()
        }
    }

    /// A suspension has been resumed: what can leave the interceptor leaves it, but not in the middle of a hook.
    func wasResumed(_ direction: Direction, _ index: Int) {
        if hooks.mayDrain(direction, index) { drain(direction, index) }
    }

    func leaveHook() {
        for (direction, index) in hooks.leave() { drain(direction, index) }
    }

    /// Lets go on what waits at an interceptor, in order, as far as it can.
    private func drain(_ direction: Direction, _ index: Int) {
        guard let queue = flows[direction].queues.queue(at: index) else { return }
        // What is resumed meanwhile leaves afterwards: it could overtake what leaves now.
        hooks.enter()
        queue.isDraining = true
        while !isOver {
            deliver(queue, direction)
            failUnread(queue, direction)
            guard !isOver, let held = queue.events.first, let verdict = verdict(on: held, index, direction) else {
                break
            }
            _ = flows[direction].queues.removeFirst(of: queue, at: worker.context.loop.now)
            let bytes = held.bytes
            if case .headSuspended = held.state {
                headHasWaited(verdict, index, held.event)
            } else if let bytes {
                proceed(verdict, index, held.event, bytes.readable, direction)
                worker.release(bytes)
            } else {
                proceed(verdict, index, held.event, Span(), direction)
            }
        }
        queue.isDraining = false
        if queue.events.isEmpty { flows[direction].queues.remove(queue) }
        leaveHook()
        if !isOver { resumeSource(of: direction) }
    }

    private func proceed(
        _ verdict: Verdict,
        _ index: Int,
        _ event: ChainEvent,
        _ bytes: Span<UInt8>,
        _ direction: Direction
    ) {
        if settle(verdict, index, event, bytes, direction) {
            pass(event, bytes, direction, from: index + direction.step)
        }
    }

    /// What the interceptor says of an event that waits and is the first; none as long as it says nothing.
    private func verdict(on held: HoldQueue.HeldEvent, _ index: Int, _ direction: Direction) -> Verdict? {
        switch held.state {
        case .ready: .next
        case .suspended(let suspension): verdict(suspension, on: held.event, index, direction)
        case .headSuspended(let suspension): verdict(suspension, on: heldHeadEvent ?? held.event, index, direction)
        case .delivered(let verdict): verdict
        case .undelivered, .reading: nil
        }
    }

    private func verdict(_ suspension: Suspension, on event: ChainEvent, _ index: Int, _ direction: Direction)
        -> Verdict?
    {
        let edits = editCount(of: event)
        run.call(index)
        guard let verdict = suspension.verdict(on: Suspended(self, event)) else { return nil }
        hasResumed(suspension, index, event, direction)
        note(verdict, index, event, direction, from: edits, time: nil)
        return verdict
    }

    /// What waits at a link and at those behind it is nobody's any more.
    func releaseHeld(_ direction: Direction, from index: Int) {
        guard flows.heldIndexes(direction) != 0 else { return }
        // What of the request has waited does not go with a retry.
        if direction == .request { discardRetryBuffer(.incomplete) }
        for held in flows[direction].queues.removeAll(from: index) {
            held.state.suspension?.cancel()
            if case .responseHead(let head, _) = held.event { release(head) }
            if let bytes = held.bytes { worker.release(bytes) }
        }
    }

    private func hasResumed(_ suspension: Suspension, _ index: Int, _ event: ChainEvent, _ direction: Direction) {
        let time = suspension.began > .start ? worker.context.loop.clock.now - suspension.began : .zero
        worker.counters.interceptorTook(run.chain.links[index].counter, time)
        trace?.resumed(index, event.label(direction), after: time)
        endWait()
    }

    /// Counts time for what the call does next, and no longer for the interceptor at which it has waited.
    func endWait() {
        let phase: TimeLedger.Phase = upstreamLeg.attempt.map { $0.isConnected ? .attempt : .connecting } ?? .chain
        ledger.enter(phase, at: worker.context.loop.now)
    }

    // MARK: The source

    /// So much waits in the chain that no more is taken in.
    func pauseSource(of direction: Direction) {
        guard !flows[direction].queues.isPaused else { return }
        flows[direction].queues.isPaused = true
        direction == .request ? callerLeg.stream.pause(.held) : upstreamLeg.attempt?.pause(.held)
    }

    func resumeSource(of direction: Direction) {
        guard flows[direction].queues.isPaused else { return }
        guard flows[direction].queues.events <= callerLeg.listener.heldEventLimit,
            flows[direction].queues.bytes <= callerLeg.listener.heldByteLimit
        else { return }
        flows[direction].queues.isPaused = false
        readRest(direction)
        guard !isOver, !flows[direction].queues.isPaused else { return }
        direction == .request ? callerLeg.stream.resume(.held) : resumeResponse(.held)
    }
}
