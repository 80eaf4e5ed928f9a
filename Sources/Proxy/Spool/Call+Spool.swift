internal import Bytes
internal import Configuration
internal import Events
internal import HTTP
internal import RPC
internal import Telemetry

/// What is kept of a request beyond the retry buffer, in a file, and how a retry sends that.
extension Call {
    // MARK: Keeping

    /// Keeps bytes of the body for which the retry buffer has not enough room, if the upstream has another place for the rest.
    func beginSpool(_ body: Span<UInt8>, room: Int, by attempt: Attempt) {
        // A file is not read for several attempts at once.
        stopHedging()
        // Who rehearses calls has no files made.
        guard let upstream = route.upstream, let settings = upstream.settings.limits.spool, let budget = upstream.spool,
            worker.services.runsPrograms, upstreamLeg.retryBuffer.isWanted || attempt.mayBeRetriedOnceSent
        else { return discardRetryBuffer(.buffer) }
        // What is known to be too large is not written at all.
        if let length = request.contentLength, length - upstream.settings.limits.retryBuffer > settings.max {
            worker.counters.limitHit(.spool)
            return discardRetryBuffer(.spool)
        }
        upstreamLeg.retryBuffer.body?.append(body.extracting(0..<room))
        let spool = Spool(settings, budget, upstream.counter, on: worker) { [unowned self] event in
            changed(event)
        }
        upstreamLeg.retryBuffer.spool = spool
        keep(body.extracting(room..<body.count), in: spool)
    }

    /// Keeps bytes of the body behind those that are in the spool.
    func keep(_ body: Span<UInt8>, in spool: Spool) {
        if let reason = spool.append(body) {
            worker.counters.limitHit(reason == .spool ? .spool : .spoolTotal)
            return discardRetryBuffer(reason)
        }
        if spool.layout.isCrowded { callerLeg.stream.pause(.spool) }
    }

    /// No other retry needs the spool; the one that is being sent still does.
    func release(_ spool: Spool) {
        spool.isKept = false
        guard !spool.isRead else { return }
        upstreamLeg.retryBuffer.spool = nil
        spool.end()
        // Not at once: bytes of the body may be on their way here, and what comes must not overtake them.
        worker.atEndOfTurn(self)
    }

    /// Nothing of the spool has the caller wait any more, unless it is crowded, or the next attempt is to read it.
    func resumeAfterSpool() {
        if acceptsRequest, let spool = upstreamLeg.retryBuffer.spool {
            guard !spool.isRead, !spool.layout.isCrowded, upstreamLeg.attempt?.isConnected == true else { return }
        }
        callerLeg.stream.resume(.spool)
    }

    private func changed(_ event: Spool.Event) {
        guard let spool = upstreamLeg.retryBuffer.spool else { return }
        switch event {
        case .moved: break
        case .unwritable(let error):
            noteSpoolError("cannot write", error)
            // Where the next attempt is on its way already, it is sent what is there, all of it.
            if upstreamLeg.attempt?.isConnected == true {
                discardRetryBuffer(.disk)
            } else {
                upstreamLeg.retryBuffer.skipReason = upstreamLeg.retryBuffer.skipReason ?? .disk
                spool.isKept = false
            }
        case .unreadable(let error):
            noteSpoolError("cannot read", error)
            discardRetryBuffer(.disk)
            endAttempts(.canceled)
            let text = "the request cannot be retried, because limits.spool.to cannot be read: \(error.text)"
            return responseFailed(RPCError(.internal, text))
        }
        spool.isRead ? sendSpool() : resumeAfterSpool()
    }

    private func noteSpoolError(_ problem: StaticString, _ error: SystemError) {
        guard let upstream = route.upstream, let settings = upstream.settings.limits.spool else { return }
        worker.counters.spoolFailed(upstream.counter)
        worker.logLimiter.note(
            "\(problem) a file in limits.spool.to; its request cannot be retried",
            about: upstream.settings.name,
            [
                ("upstream", upstream.settings.name),
                ("directory", settings.directory.text),
                ("error", error.text),
            ]
        )
    }

    // MARK: Sending

    /// The attempt is sent what the spool keeps, then what has waited behind it.
    func send(_ spool: Spool, by attempt: Attempt, isBlocked: Bool) {
        callerLeg.stream.pause(.spool)
        spool.rewind()
        spool.isBlocked = isBlocked
        sendSpool()
    }

    /// Sends what can be sent now of the spool; the rest follows when the upstream has taken that, or more has been read.
    func sendSpool() {
        guard let spool = upstreamLeg.retryBuffer.spool, !spool.isSending else { return }
        // What is told meanwhile shall not send what comes next. It may begin a retry, which reads it too.
        spool.isSending = true
        while spool.isRead, !spool.isBlocked, let attempt = upstreamLeg.attempt, attempt.canSend {
            if spool.layout.next == .end {
                spoolIsSent(spool, by: attempt)
            } else if let piece = spool.nextPiece() {
                _ = lend({ spool.isBlocked = attempt.send(body: piece.span) }, to: attempt)
            } else {
                break
            }
        }
        spool.isSending = false
    }

    /// The upstream has taken what it was sent.
    func drainedForSpool() {
        upstreamLeg.retryBuffer.spool?.isBlocked = false
        sendSpool()
    }

    /// The attempt has all that was kept: what comes goes there at once.
    private func spoolIsSent(_ spool: Spool, by attempt: Attempt) {
        spool.endRetry()
        let goesOn = lend(
            {
                if let waiting = upstreamLeg.outbox.take() {
                    sendUpstream(waiting.readable)
                    worker.release(waiting)
                }
                if upstreamLeg.hasEnd, !isOver { attempt.sendEnd(trailers: flows.request.trailers) }
            },
            to: attempt
        )
        if !spool.isKept, upstreamLeg.retryBuffer.spool === spool { release(spool) }
        if goesOn { resumeAfterSpool() }
    }

    /// Sends something by an attempt that may fail meanwhile, which the call is told only then.
    ///
    /// - Returns: whether the attempt goes on.
    private func lend(_ send: () -> Void, to attempt: Attempt) -> Bool {
        upstreamLeg.beginSending()
        send()
        if let error = upstreamLeg.endSending() { attemptFailed(attempt, error) }
        return !isOver && upstreamLeg.attempt === attempt
    }

    /// The attempt gets no more of the spool.
    func stopSendingSpool() {
        guard let spool = upstreamLeg.retryBuffer.spool, spool.isRead else { return }
        spool.endRetry()
        if !spool.isKept { release(spool) }
        worker.atEndOfTurn(self)
    }
}
