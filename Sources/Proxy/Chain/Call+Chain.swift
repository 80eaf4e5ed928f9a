internal import Bytes
internal import Events
internal import HTTP
internal import Protocols
internal import RPC
internal import Telemetry
internal import Time

/// A call's way through its chain: requests first to last, responses and the end last to first.
extension Call {
    /// Lets an event go on through the chain from the link at `start`, and out of it behind the last.
    ///
    /// `bytes` are those of the event, where they are not held.
    func pass(_ event: ChainEvent, _ bytes: Span<UInt8>, _ direction: Direction, from start: Int) {
        hooks.enter()
        let isThrough =
            if case .requestHead = event { enterLinks(from: start) } else { walk(event, bytes, direction, from: start) }
        leaveHook()
        guard isThrough else { return }
        switch direction {
        case .request: leaveForUpstream(event, bytes)
        case .response: leaveForCaller(event, bytes)
        }
    }

    /// Likewise, for an event that has no bytes with it.
    func pass(_ event: ChainEvent, _ direction: Direction, from start: Int) {
        pass(event, Span(), direction, from: start)
    }

    /// Takes the head of the request to the links that the call is for; false if it does not get to the end.
    private func enterLinks(from start: Int) -> Bool {
        let chain = run.chain
        let asking = chain.asking(.requestHead, .request)
        let count = chain.links.count
        for index in start..<max(start, count) where joins(index, chain) {
            guard asking & 1 << UInt64(index) != 0 else { continue }
            run.reach(index)
            guard visit(index, asks: true, .requestHead, Span(), .request) else { return false }
        }
        run.reach(count)
        return true
    }

    /// Whether the request's head comes to a link, which has entered the call then.
    private func joins(_ index: Int, _ chain: CompiledChain) -> Bool {
        guard index < run.end else { return false }
        guard !upstreamLeg.isRetried else { return run.hasEntered(index) && chain.links[index].runsAgain }
        let bit: UInt64 = 1 << UInt64(index)
        guard chain.conditional & bit == 0 || chain.links[index].applies(to: self) else { return false }
        run.enter(index)
        if run.firstPerAttempt == nil, chain.links[index].isPerAttempt {
            run.mark(index)
            request.setMark()
        }
        return true
    }

    /// Takes an event to those that ask for it, and to those at which something waits; false if it does not get to the end.
    private func walk(_ event: ChainEvent, _ bytes: Span<UInt8>, _ direction: Direction, from start: Int) -> Bool {
        guard start >= 0 else { return true }
        var ahead: UInt64 = direction == .request ? ~0 << UInt64(start) : ~0 >> UInt64(max(0, 63 - start))
        var asking = asking(event, direction)
        var late = lateHeads(event)
        var stops = (asking | late | flows.heldIndexes(direction)) & run.links(direction) & ahead
        while stops != 0 {
            let index = direction == .request ? stops.trailingZeroBitCount : 63 - stops.leadingZeroBitCount
            let bit: UInt64 = 1 << UInt64(index)
            stops &= ~bit
            if late & bit != 0, !visitHead(index, event) { return false }
            guard visit(index, asks: asking & bit != 0, event, bytes, direction) else { return false }
            // A hook may have made an error of the end, and others ask for those.
            guard case .responseEnd(let end) = event, end.isReplaced else { continue }
            ahead = bit - 1
            (asking, late) = (self.asking(event, direction), lateHeads(event))
            stops = (asking | late | flows.heldIndexes(direction)) & run.links(direction) & ahead
        }
        return true
    }

    /// The links that ask for an event as it is now, a bit each.
    func asking(_ event: ChainEvent, _ direction: Direction) -> UInt64 {
        guard case .responseHead(let head, _) = event else { return run.chain.asking(event, direction) }
        var events = event.asked(direction)
        if hasTrailersInHead { events.insert(.responseTrailers) }
        return run.chain.asking(events, code: code(of: head))
    }

    /// Takes an event to a link; true if it goes on to the next.
    func visit(
        _ index: Int,
        asks: Bool,
        _ event: ChainEvent,
        _ bytes: Span<UInt8>,
        _ direction: Direction
    ) -> Bool {
        if flows.heldIndexes(direction) & 1 << UInt64(index) != 0,
            let queue = flows[direction].queues.queue(at: index),
            !queue.isDraining
        {
            guard asks, !run.chain.links[index].isSerial, !queue.hasUndelivered else {
                hold(event, bytes, direction, at: index, asks ? .undelivered : .ready)
                return false
            }
        }
        guard asks else { return true }
        if case .message(let message) = event, waits(message, bytes, direction, at: index) { return false }
        let verdict = askNoting(index, event, bytes, direction)
        // What most return; nothing waits there.
        if case .next = verdict, event.isHead, flows.heldIndexes(direction) & 1 << UInt64(index) == 0 {
            return !isOver
        }
        return settle(verdict, index, event, bytes, direction)
    }

    /// Calls the hook, and notes what comes of it, if that is worth telling.
    func askNoting(_ index: Int, _ event: ChainEvent, _ bytes: Span<UInt8>, _ direction: Direction) -> Verdict {
        let edits = editCount(of: event)
        let start = isTimed ? worker.context.loop.clock.now : .start
        let verdict = ask(index, event, bytes, direction)
        let time = isTimed ? worker.context.loop.clock.now - start : nil
        if let time { worker.counters.interceptorTook(run.chain.links[index].counter, time) }
        note(verdict, index, event, direction, from: edits, time: time)
        return verdict
    }

    /// How many changes of its head an event has seen.
    func editCount(of event: ChainEvent) -> Int {
        switch event {
        case .requestHead: request.editCount
        case .responseHead(let head, _): head.editCount
        case .responseEnd(let end): end.trailers.editCount
        case .message, .bytes, .requestEnd: 0
        }
    }

    /// The head that an event may change.
    private func head(of event: ChainEvent) -> HTTPHead? {
        switch event {
        case .requestHead: request
        case .responseHead(let head, _): head
        case .responseEnd(let end): end.trailers
        case .message, .bytes, .requestEnd: nil
        }
    }

    /// Notes what an interceptor has said of an event, and changed in it since `edits`, unless that is nothing.
    func note(
        _ verdict: Verdict,
        _ index: Int,
        _ event: ChainEvent,
        _ direction: Direction,
        from edits: Int,
        time: Duration?
    ) {
        if case .next = verdict, editCount(of: event) == edits, !event.isTouched { return }
        guard !isOver else { return }
        let trace = self.trace.take() ?? worker.acquireTrace()
        trace.now = worker.context.loop.now
        let decision = verdict.decision(on: event)
        let time = decision == .suspend ? nil : time
        if case .requestHead = event {
            trace.noteRequestHead(index, decision, edits: edits..<request.editCount, time: time)
        } else {
            trace.note(index, event.label(direction), decision, head: head(of: event), from: edits, time: time)
        }
        self.trace = trace
    }

    /// Calls the hook.
    @inline(__always)
    func ask(_ index: Int, _ event: ChainEvent, _ bytes: Span<UInt8>, _ direction: Direction) -> Verdict {
        let interceptor = run.interceptor(index)
        run.call(index)
        switch event {
        case .requestHead: return interceptor.requestHead(self)
        case .requestEnd: return interceptor.requestEnd(self)
        case .responseHead(let head, _): return interceptor.responseHead(head, self)
        case .responseEnd(let end):
            if run.chain.byteReaders & 1 << UInt64(index) != 0, let frame = arrivedEndFrame(end) {
                interceptor.responseBytes(frame.span, self)
            }
            return interceptor.responseEnd(end, self)
        case .message(let message):
            if run.chain.byteReaders & 1 << UInt64(index) != 0, direction == .response {
                write(message, bytes, .response) { interceptor.responseBytes($0, self) }
                guard asksForMessage(message, index) else { return .next }
            }
            return message.withPayload(or: bytes) { payload in
                direction == .request
                    ? interceptor.requestMessage(payload, message, self)
                    : interceptor.responseMessage(payload, message, self)
            }
        case .bytes:
            if direction == .response { interceptor.responseBytes(bytes, self) }
            return .next
        }
    }

    /// Whether a link asks for a message of a response, and not only for its bytes.
    func asksForMessage(_ message: Message, _ index: Int) -> Bool {
        if message.direction == .request { return true }
        return run.chain.links[index].events.contains(message.form == .plain ? .plainBodies : .responseMessages)
    }

    /// Does what an interceptor says of an event; true if it goes on to the next link.
    func settle(
        _ verdict: Verdict,
        _ index: Int,
        _ event: ChainEvent,
        _ bytes: Span<UInt8>,
        _ direction: Direction
    ) -> Bool {
        guard !isOver else { return false }
        switch verdict {
        case .next:
            if case .responseEnd(let end) = event, end.clearReplaced() { decides(index, .replace) }
            return proceeds(index, event, bytes, direction)
        case .suspend(let suspension):
            guard !isClosing else {
                suspension.cancel()
                return proceeds(index, event, bytes, direction)
            }
            suspend(suspension, index, event, bytes, direction)
        case .reject(let error): rejected(error, at: index, event, direction)
        case .respond(let response): responded(response, at: index, event, direction)
        case .respondStored(let stored): respondedStored(stored, at: index, event)
        case .serve(let upstream, let opening):
            guard serve(by: upstream, opening, at: index, event) else { return false }
            return proceeds(index, event, bytes, direction)
        case .reset: resetStream(at: index)
        case .retry(let reason):
            guard let skipReason = retrySkipReason(at: index, direction) else {
                retry(reason, at: index, event)
                return false
            }
            skipRetry(reason, skipReason, at: index, event.label(direction), isNoted: true)
            return proceeds(index, event, bytes, direction)
        }
        return false
    }

    /// Lets an event go on from a link, unless it has to wait there for those before it.
    private func proceeds(_ index: Int, _ event: ChainEvent, _ bytes: Span<UInt8>, _ direction: Direction) -> Bool {
        if case .message(let message) = event {
            let added = message.settle()
            guard added.isEmpty else {
                let number = response.number
                if !message.isDropped, proceeds(index, event, bytes, direction) {
                    pass(event, bytes, direction, from: index + direction.step)
                }
                for payload in added where isOpen(direction, number) { add(payload, behind: message, index, direction) }
                return false
            }
            guard !message.isDropped else { return false }
        }
        guard flows.heldIndexes(direction) & 1 << UInt64(index) != 0 else { return true }
        guard let queue = flows[direction].queues.queue(at: index), !queue.isDraining else { return true }
        hold(event, bytes, direction, at: index, .ready)
        return false
    }

    /// Whether what follows in a direction is still wanted; `number` is that of the response it belongs to.
    func isOpen(_ direction: Direction, _ number: Int) -> Bool {
        direction == .request ? acceptsRequest : !isOver && response.progress != .closed && response.number == number
    }

    private func add(_ payload: [UInt8], behind message: Message, _ index: Int, _ direction: Direction) {
        if direction == .request { redactedBody?.add(made: payload.span) }
        let queue = worker.acquireQueue()
        queue.append(payload)
        let new = Message(direction, isBare: false, queues: worker.context.queues)
        new.begin(message.number, isCompressed: false, decompressed: queue)
        if proceeds(index, .message(new), Span(), direction) {
            pass(.message(new), direction, from: index + direction.step)
        }
    }

    /// Shows bytes of a body in plain HTTP, which have left the chain, to those that ask for them.
    func show(_ bytes: Span<UInt8>, _ direction: Direction) {
        guard rpcProtocol == .http else { return }
        var stops = run.chain.byteObservers & run.links(direction)
        while stops != 0 {
            let index = stops.trailingZeroBitCount
            stops &= stops - 1
            run.interceptor(index).plainBytes(bytes, direction, self)
        }
    }

    /// Shows an interim response to the links that ask for it.
    func show(interim head: HTTPHead) {
        var stops = run.chain.mask(.interimHeads) & run.links(.response)
        while stops != 0 {
            let index = 63 - stops.leadingZeroBitCount
            stops &= ~(1 << UInt64(index))
            run.interceptor(index).interimHead(head, self)
        }
    }

    /// The call is over for all links that it came to.
    func passFinished() {
        var stops = run.linksToFinish
        while stops != 0 {
            let index = 63 - stops.leadingZeroBitCount
            stops &= ~(1 << UInt64(index))
            guard run.chain.applies(index, in: record.code.rawValue) else { continue }
            run.interceptor(index).finished(self)
        }
    }
}
