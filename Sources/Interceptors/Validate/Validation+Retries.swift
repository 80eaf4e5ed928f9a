internal import Configuration
internal import Policy
internal import Protocols
internal import Proxy
internal import RPC
internal import Telemetry
internal import Time

/// Retries that a rule asks for.
extension Validation {
    func retry(_ plan: RetryPlan, _ code: RPCCode?, _ call: Call, _ end: ResponseEnd?) -> Verdict {
        let (delay, skipReason) = timing(plan, code, call)
        if let skipReason {
            call.skipRetry(.rule, skipReason)
            return .next
        }
        if let alternate = plan.alternate {
            guard alternates < plan.maxAlternates else {
                let name = alternate.call.settings.name
                return .failing(RPCError(.unavailable, "the call \(name) was made as often as max_alt allows"), end)
            }
        }
        guard call.upstream?.withdrawRetry(at: call.now) == true else {
            call.skipRetry(.rule, .budget)
            return .next
        }
        if plan.alternate != nil { alternates += 1 }
        guard plan.alternate != nil || plan.task != nil || delay > .zero else {
            use([:], plan)
            return .retry(.rule)
        }
        return suspend(for: plan, delay: delay, call, end)
    }

    /// Whether nothing that is known before the end of the response prevents a retry.
    func canRetry(_ call: Call) -> Bool {
        call.retries < maxRetries && call.retrySkipReason == nil && !call.isHedged
    }

    /// Returns the delay before a retry, and the reason that prevents it, or `nil`.
    private func timing(_ plan: RetryPlan, _ code: RPCCode?, _ call: Call) -> (Duration, RetrySkipReason?) {
        if call.retries >= maxRetries { return (.zero, .attempts) }
        if let skipReason = call.retrySkipReason { return (.zero, skipReason) }
        if call.isHedged { return (.zero, .hedged) }
        if call.upstreamError?.endsCall == true { return (.zero, .deadline) }
        let status = call.upstreamError == nil ? status : 0
        guard plan.mayRepeat(call, status: status, code: code) else { return (.zero, .notIdempotent) }
        let chance = worker.randomFraction()
        var delay = max(plan.delay.time(after: call.retries, chance: chance), retryAfter)
        switch pushback {
        case .never: return (.zero, .pushback)
        case .after(let time): delay = max(delay, time)
        case nil: break
        }
        let time = call.now.adding(saturating: delay)
        let isTooLate =
            time == .max || delay >= call.suspensionTimeout ?? .max
            || time >= call.deadlineTime ?? .max
        return (delay, delay > .zero && isTooLate ? .deadline : nil)
    }

    /// Keeps what goes into the request when it is retried; what has no value leaves what was there before.
    func use(_ captured: [String: [UInt8]], _ plan: RetryPlan) {
        for (name, text) in plan.set {
            guard let value = text.filled({ captured[$0] }) else { continue }
            headers.removeAll { $0.name == name }
            headers.append((name, value))
        }
    }
}
