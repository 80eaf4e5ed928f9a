internal import Bytes
internal import Events
internal import HTTP
internal import Protocols
internal import RPC
internal import Telemetry

/// What happens where an interceptor has suspended an event: it waits there, and what comes later waits behind it, until it
/// is resumed.
extension Call {
    func suspend(
        _ suspension: Suspension,
        _ place: Int,
        _ event: ChainEvent,
        _ bytes: Span<UInt8>,
        _ direction: Direction
    ) {
        guard suspension.take() else { return rejected(twice(place), at: place, event, direction) }
        hold(event, bytes, direction, at: place, .suspended(suspension))
        begin(suspension, place, direction)
    }

    /// Lets the end of a response wait for its head, which was shown late.
    func suspendHead(_ suspension: Suspension, _ place: Int, _ end: ChainEvent) {
        guard suspension.take() else { return rejected(twice(place), at: place, end, .response) }
        hold(end, Span(), .response, at: place, .headSuspended(suspension))
        begin(suspension, place, .response)
    }

    private func twice(_ place: Int) -> RPCError {
        RPCError(.internal, "interceptor \(run.chain.links[place].name) used one suspension for two events")
    }

    private func begin(_ suspension: Suspension, _ place: Int, _ direction: Direction) {
        let (counters, counter) = (worker.counters, run.chain.links[place].counter)
        counters.verdict(counter, .suspend)
        suspension.resumedAgain = { counters.verdict(counter, .late) }
        guard !suspension.isResumed else { return wasResumed(direction, place) }
        suspension.resumed = { [unowned self] in wasResumed(direction, place) }
        let timer = Timer(on: worker.context.loop.timers) { [unowned self] in
            worker.counters.limitHit(.suspension)
            let name = run.chain.links[place].name
            fail(RPCError(.deadlineExceeded, "interceptor \(name) took longer than timeouts.suspension"), by: .martlet)
        }
        timer.arm(after: listener.suspensionTimeout)
        ledger.wait(place, at: worker.context.loop.now)
        suspension.begin(timer, at: worker.context.loop.now, worker.tasks)
    }

    func hold(
        _ event: ChainEvent,
        _ bytes: Span<UInt8>,
        _ direction: Direction,
        at place: Int,
        _ state: Gate.Slot.State
    ) {
        var kept: ByteQueue?
        switch event {
        case .message(let message):
            message.hold(bytes)
            lostMessage(message, direction)
        case .bytes:
            let queue = worker.takeQueue()
            queue.append(bytes)
            kept = queue
        case .requestHead: measureWaitingRequest()
        default: break
        }
        lanes[direction].hold(Gate.Slot(event: event, bytes: kept, state: state), at: place)
        if lanes[direction].events > listener.heldEventLimit || lanes[direction].bytes > listener.heldByteLimit {
            pauseSource(of: direction)
        }
    }

    /// A suspension has been resumed: what can leave the interceptor leaves it, but not in the middle of a hook.
    private func wasResumed(_ direction: Direction, _ place: Int) {
        guard hooksUnderWay == 0 else { return resumedInHook.append((direction, place)) }
        drain(direction, place)
    }

    func leaveHook() {
        hooksUnderWay -= 1
        guard hooksUnderWay == 0, !resumedInHook.isEmpty else { return }
        let resumed = resumedInHook
        resumedInHook = []
        for (direction, place) in resumed { drain(direction, place) }
    }

    /// Lets go on what waits at an interceptor, in order, as far as it can.
    private func drain(_ direction: Direction, _ place: Int) {
        guard let gate = lanes[direction].gate(at: place) else { return }
        // What is resumed meanwhile leaves afterwards: it could overtake what leaves now.
        hooksUnderWay += 1
        gate.isDraining = true
        while !isOver, let slot = gate.slots.first {
            guard let verdict = verdict(on: slot, place, direction) else { break }
            if case .suspend(let suspension) = verdict, suspension.take() {
                gate.slots[0].state = .suspended(suspension)
                begin(suspension, place, direction)
                guard suspension.isResumed else { break }
                continue
            }
            _ = lanes[direction].takeFirst(of: gate, at: worker.context.loop.now)
            let bytes = slot.bytes
            if case .headSuspended = slot.state {
                headHasWaited(verdict, place, slot.event)
            } else if let bytes {
                proceed(verdict, place, slot.event, bytes.readable, direction)
                worker.give(bytes)
            } else {
                proceed(verdict, place, slot.event, Span(), direction)
            }
        }
        gate.isDraining = false
        if gate.slots.isEmpty { lanes[direction].remove(gate) }
        leaveHook()
        if !isOver { resumeSource(of: direction) }
    }

    private func proceed(
        _ verdict: Verdict,
        _ place: Int,
        _ event: ChainEvent,
        _ bytes: Span<UInt8>,
        _ direction: Direction
    ) {
        if settle(verdict, place, event, bytes, direction) {
            pass(event, bytes, direction, from: place + direction.step)
        }
    }

    /// What the interceptor says of an event that waits and is the first; none as long as it says nothing.
    private func verdict(on slot: Gate.Slot, _ place: Int, _ direction: Direction) -> Verdict? {
        switch slot.state {
        case .ready: .next
        case .suspended(let suspension): verdict(suspension, on: slot.event, place, direction)
        case .headSuspended(let suspension): verdict(suspension, on: heldHeadEvent ?? slot.event, place, direction)
        case .undelivered: askNoting(place, slot.event, Span(), direction)
        }
    }

    private func verdict(_ suspension: Suspension, on event: ChainEvent, _ place: Int, _ direction: Direction)
        -> Verdict?
    {
        let edits = editCount(of: event)
        run.call(place)
        guard let verdict = suspension.verdict(on: Suspended(self, event)) else { return nil }
        hasResumed(suspension, place, event, direction)
        note(verdict, place, event, direction, from: edits, time: nil)
        return verdict
    }

    /// What waits at a link and at those behind it is nobody's any more.
    func forgetWaiting(_ direction: Direction, from place: Int) {
        guard !lanes[direction].isEmpty else { return }
        // What of the request has waited does not go with a retry.
        if direction == .request { discardRetryBuffer(.incomplete) }
        for slot in lanes[direction].removeAll(from: place) {
            slot.state.suspension?.cancel()
            if case .responseHead(let head, _) = slot.event { forget(head) }
            if let bytes = slot.bytes { worker.give(bytes) }
        }
    }

    private func hasResumed(_ suspension: Suspension, _ place: Int, _ event: ChainEvent, _ direction: Direction) {
        let time = suspension.began > 0 ? worker.context.loop.clock.now - suspension.began : 0
        worker.counters.interceptorTook(run.chain.links[place].counter, Int(time))
        trace?.resumed(place, event.label(direction), after: time)
        let phase: TimeLedger.Phase = attempt.map { $0.isConnected ? .attempt : .connecting } ?? .chain
        ledger.enter(phase, at: worker.context.loop.now)
    }

    // MARK: The source

    /// So much waits in the chain that no more is taken in.
    private func pauseSource(of direction: Direction) {
        guard !lanes[direction].isPaused else { return }
        lanes[direction].isPaused = true
        direction == .request ? caller.pause(.held) : attempt?.pause(.held)
    }

    private func resumeSource(of direction: Direction) {
        guard lanes[direction].isPaused else { return }
        guard lanes[direction].events <= listener.heldEventLimit, lanes[direction].bytes <= listener.heldByteLimit
        else { return }
        lanes[direction].isPaused = false
        takeRest(direction)
        guard !isOver, !lanes[direction].isPaused else { return }
        direction == .request ? caller.resume(.held) : attempt?.resume(.held)
    }
}
