internal import Bytes
internal import Events
internal import HTTP
internal import RPC
internal import Telemetry

/// A call's way through its chain: requests first to last, answers and the end last to first.
extension Call {
    /// Lets an event go on through the chain from the link at `start`, and out of it behind the last.
    ///
    /// `bytes` are those of the event, where they are not held.
    func pass(_ event: ChainEvent, _ bytes: Span<UInt8>, _ way: Way, from start: Int) {
        var place = start
        hooksUnderWay += 1
        while run.chain.links.indices.contains(place) {
            guard visit(place, event, bytes, way) else { return leaveHook() }
            place += way.step
        }
        leaveHook()
        switch way {
        case .request: leaveForUpstream(event, bytes)
        case .response: leaveForCaller(event, bytes)
        }
    }

    /// Likewise, for an event that has no bytes with it.
    func pass(_ event: ChainEvent, _ way: Way, from start: Int) {
        pass(event, Span(), way, from: start)
    }

    /// Takes an event to a link; true if it goes on to the next.
    private func visit(_ place: Int, _ event: ChainEvent, _ bytes: Span<UInt8>, _ way: Way) -> Bool {
        if case .requestHead = event {
            guard joins(place) else { return true }
        } else {
            guard way == .request ? run.hasEntered(place) : run.isOnWayBack(place) else { return true }
        }
        let asks = run.chain.links[place].asks(for: event.asked(way), code: event.code)
        if !lanes[way].isEmpty, let gate = lanes[way].gate(at: place), !gate.isDraining {
            let isSerial = run.chain.links[place].isSerial
            guard asks, !isSerial else {
                hold(event, bytes, way, at: place, asks ? .undelivered : .ready)
                return false
            }
        }
        guard asks else { return true }
        return settle(askNoting(place, event, bytes, way), place, event, bytes, way)
    }

    /// Whether the request's head comes to a link, which has entered the call then.
    private func joins(_ place: Int) -> Bool {
        guard !isTriedAgain else { return run.hasEntered(place) && run.chain.links[place].runsAgain }
        guard run.chain.links[place].shapes.contains(shape) else { return false }
        if let condition = run.chain.links[place].condition, !condition.holds(for: self) { return false }
        run.enter(place)
        if place == run.chain.firstPerAttempt { request.setMark() }
        return true
    }

    /// Calls the hook, and notes what comes of it, if that is worth telling.
    func askNoting(_ place: Int, _ event: ChainEvent, _ bytes: Span<UInt8>, _ way: Way) -> Verdict {
        let head: HTTPHead? =
            switch event {
            case .requestHead: request
            case .responseHead(let head, _): head
            case .responseEnd(let end): end.trailers
            case .message, .bytes, .requestEnd: nil
            }
        let edits = head?.edits.count ?? 0
        let start = isTimed ? worker.context.loop.clock.now : 0
        let verdict = ask(place, event, bytes, way)
        let time = isTimed ? worker.context.loop.clock.now - start : nil
        guard !isOver else { return verdict }
        if let time { worker.counters.interceptorTook(run.chain.links[place].counter, Int(time)) }
        let hasChanged = head.map { $0.edits.count > edits } ?? event.isTouched
        let decision = verdict.decision(on: event)
        guard hasChanged || decision != .next else { return verdict }
        let trace = self.trace ?? worker.traces.take()
        self.trace = trace
        trace.note(
            place,
            event.label(way),
            decision,
            head: head,
            from: edits,
            time: decision == .suspend ? nil : time
        )
        return verdict
    }

    /// Calls the hook.
    func ask(_ place: Int, _ event: ChainEvent, _ bytes: Span<UInt8>, _ way: Way) -> Verdict {
        let interceptor = run.interceptor(place)
        switch event {
        case .requestHead: return interceptor.requestHead(self)
        case .requestEnd: return interceptor.requestEnd(self)
        case .responseHead(let head, _): return interceptor.responseHead(head, self)
        case .responseEnd(let end): return interceptor.responseEnd(end, self)
        case .message(let message):
            return message.withPayload(or: bytes) { payload in
                way == .request
                    ? interceptor.requestMessage(payload, message, self)
                    : interceptor.responseMessage(payload, message, self)
            }
        case .bytes: return .next
        }
    }

    /// Does what an interceptor says of an event; true if it goes on to the next link.
    func settle(
        _ verdict: Verdict,
        _ place: Int,
        _ event: ChainEvent,
        _ bytes: Span<UInt8>,
        _ way: Way
    ) -> Bool {
        guard !isOver else { return false }
        switch verdict {
        case .next:
            if case .responseEnd(let end) = event, end.wasReplaced() { decides(place, .replace) }
            return goesOn(place, event, bytes, way)
        case .suspend(let suspension):
            guard !isClosing else { return goesOn(place, event, bytes, way) }
            suspend(suspension, place, event, bytes, way)
        case .reject(let error): rejected(error, at: place, event, way)
        case .respond(let answer): responded(answer, at: place, event, way)
        }
        return false
    }

    /// Lets an event go on from a link, unless it has to wait there for those before it.
    private func goesOn(_ place: Int, _ event: ChainEvent, _ bytes: Span<UInt8>, _ way: Way) -> Bool {
        if case .message(let message) = event {
            let added = message.settle()
            guard added.isEmpty else {
                if !message.isDropped, goesOn(place, event, bytes, way) {
                    pass(event, bytes, way, from: place + way.step)
                }
                for payload in added where !isOver { add(payload, behind: message, place, way) }
                return false
            }
            guard !message.isDropped else { return false }
        }
        guard !lanes[way].isEmpty, let gate = lanes[way].gate(at: place), !gate.isDraining else { return true }
        hold(event, bytes, way, at: place, .ready)
        return false
    }

    private func add(_ payload: [UInt8], behind message: Message, _ place: Int, _ way: Way) {
        let queue = worker.context.queues.take()
        queue.append(payload)
        let new = Message(isBare: false, queues: worker.context.queues)
        new.begin(message.number, isCompressed: false, decompressed: queue)
        if goesOn(place, .message(new), Span(), way) { pass(.message(new), way, from: place + way.step) }
    }

    /// The call is over for all links that it came to.
    func passFinished() {
        guard run.requestMeets(.finished) else { return }
        for place in run.chain.links.indices.reversed() where run.hasEntered(place) {
            guard run.chain.links[place].asks(for: .finished, code: record.code.rawValue) else { continue }
            run.interceptor(place).finished(self)
        }
    }
}
