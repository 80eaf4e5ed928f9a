internal import Bytes
internal import HTTP
internal import Protocols
internal import RPC

/// The head of a response that waits for the outcome, as interceptors may be for some outcomes only.
extension Call {
    /// The outcome that the head of a response tells of: in plain HTTP its status does, unless it waits for its end.
    func code(of head: HTTPHead) -> UInt8? {
        guard rpcProtocol == .http, !response.hold.isUntilEnd else { return nil }
        return (response.ownOutcome?.code ?? codeOfStatus(head)).rawValue
    }

    private func codeOfStatus(_ head: HTTPHead) -> RPCCode {
        let isGood = rpcProtocol == .http ? head.status < 400 : head.status == 200
        return isGood ? .ok : RPCCode(inferredFromStatus: head.status)
    }

    /// The links that are for the outcome of a response and have not seen its head, as that waits, a bit each.
    func lateHeads(_ event: ChainEvent) -> UInt64 {
        guard run.chain.codedHeads != 0, response.hold.head != nil, case .responseEnd(let end) = event else { return 0 }
        return run.chain.links(of: run.chain.codedHeads, for: end.code.rawValue)
    }

    /// Shows a link the head of a response whose end comes to it; false if the end goes no further.
    func visitHead(_ index: Int, _ end: ChainEvent) -> Bool {
        guard let head = heldHeadEvent else { return true }
        return settleHead(askNoting(index, head, Span(), .response), index, end)
    }

    /// The head of a response that waits.
    var heldHeadEvent: ChainEvent? {
        response.hold.head.map { .responseHead($0, isLast: response.isHeadLast) }
    }

    /// A link that has suspended a head says what becomes of it; the end comes to the same link behind it.
    func headHasWaited(_ verdict: Verdict, _ index: Int, _ end: ChainEvent) {
        guard settleHead(verdict, index, end) else { return }
        let asks = asking(end, .response) & 1 << UInt64(index) != 0
        if visit(index, asks: asks, end, Span(), .response) { pass(end, .response, from: index - 1) }
    }

    /// Does what a link says of a head whose end waits for it; true if the end comes to the link now.
    private func settleHead(_ verdict: Verdict, _ index: Int, _ end: ChainEvent) -> Bool {
        guard !isOver else { return false }
        switch verdict {
        case .next: return true
        case .suspend(let suspension):
            guard isClosing else {
                suspendHead(suspension, index, end)
                return false
            }
            suspension.cancel()
            return true
        case .respond(let own):
            guard let head = response.hold.head.take() else { return false }
            responded(own, at: index, .responseHead(head, isLast: response.isHeadLast), .response)
            return false
        case .respondStored(let stored):
            guard let head = response.hold.head.take() else { return false }
            respondedStored(stored, at: index, .responseHead(head, isLast: response.isHeadLast))
            return false
        case .retry(let reason):
            guard let skipReason = retrySkipReason(at: index, .response) else {
                retry(reason, at: index, end)
                return false
            }
            skipRetry(reason, skipReason, at: index, .responseHead, isNoted: true)
            return true
        case .reject, .reset, .serve: return settle(verdict, index, end, Span(), .response)
        }
    }

    /// Lets links change the fields of a response that is too large to wait for its end.
    ///
    /// Its outcome is the one that its status tells of.
    ///
    /// - Parameters:
    ///   - head: the head.
    ///   - trailers: the trailers, where they go out with the head.
    func passFields(of head: HTTPHead, trailers: HTTPHead?) {
        let code = codeOfStatus(head)
        let chain = run.chain
        let isOpen = run.links(.response)
        let heads = chain.links(of: chain.codedHeads, for: code.rawValue) & isOpen
        var ends: UInt64 = 0
        var event: ChainEvent?
        if let trailers {
            // Those that ask for every end cannot be told of this one.
            ends = chain.asking(.responseTrailers, code: code.rawValue) & ~chain.mask(.responseEnd) & isOpen
            let outcome = Outcome(code: code)
            event = .responseEnd(ResponseEnd(outcome, trailers: trailers, asked: [], rpcProtocol))
        }
        var stops = heads | ends
        while stops != 0 {
            let index = 63 - stops.leadingZeroBitCount
            let bit: UInt64 = 1 << UInt64(index)
            stops &= ~bit
            if heads & bit != 0 { _ = askNoting(index, .responseHead(head, isLast: false), Span(), .response) }
            if ends & bit != 0, let event { _ = askNoting(index, event, Span(), .response) }
        }
    }
}
