internal import Bytes
internal import Configuration
internal import Documents
internal import Events
internal import HTTP
internal import Policy
internal import Protocols
internal import Proxy
internal import RPC
internal import Telemetry
internal import Time

/// What the rules say of the responses to one call.
final class Validation {
    private let rules: [ValidateRule]
    private let headerRules: [HeaderRules?]
    private let maxRetries: Int
    private let worker: WorkerServices
    /// The rule to be asked next; past the last when that is over.
    private var position = 0
    /// The rules for whose responses the head is one, a bit each.
    private var candidates: UInt64 = 0
    private var status = 0
    private var json: JSONValue?
    private var isProtoJSON = false
    private var isEmpty = true
    private var retryAfter = Duration.zero
    private var pushback: RetryPushback?
    private var alternates = 0
    /// What goes into the request when it is retried.
    private var headers: [(name: FieldName, value: [UInt8])] = []
    private var wait: RetryWait?

    init(_ plan: ValidatePlan, _ headerRules: [HeaderRules?], on worker: WorkerServices) {
        (rules, maxRetries, self.worker) = (plan.rules, plan.maxRetries, worker)
        self.headerRules = headerRules
    }

    // MARK: Events

    /// Sets the headers that a retry adds.
    func set(on request: HTTPHead) {
        for (name, value) in headers { request.set(name, value.span) }
    }

    func responseHead(_ head: HTTPHead, _ call: Call) -> Verdict {
        position = rules.count
        guard isEvaluated(call) else { return .next }
        (position, status, json, isEmpty, pushback, wait) = (0, head.status, nil, true, nil, nil)
        retryAfter = .zero
        if call.upstreamError == nil { readWishes(head) }
        findCandidates(from: 0, head, call)
        return decide(ResponseFacts(head: head, call), call, head: head)
    }

    func responseMessage(_ payload: Span<UInt8>, _ message: Message, _ call: Call) -> Verdict {
        if payload.count > 0 { isEmpty = false }
        guard position < rules.count, message.number == 1 else { return .next }
        let facts = ResponseFacts(message: message, payload, status: status, call)
        (json, isProtoJSON) = (facts.json, facts.isProtoJSON)
        return decide(facts, call, head: call.heldHead, message: message)
    }

    func responseEnd(_ end: ResponseEnd, _ call: Call) -> Verdict {
        guard isEvaluated(call) else { return .next }
        // A response that broke off is another thing than the one whose head has come.
        if call.upstreamError != nil, call.hasUpstreamResponse {
            position = 0
            findCandidates(from: 0, nil, call)
        }
        guard position < rules.count else { return .next }
        readWishes(end.trailers)
        let isEmpty =
            isEmpty
            && (call.rpcProtocol.hasEnvelopes || call.responseHasOneBody)
        return decide(
            ResponseFacts(end: end, json: json, isProtoJSON: isProtoJSON, isEmpty: isEmpty),
            call,
            head: call.heldHead,
            end: end
        )
    }

    /// Whether rules are asked about what has come: a response of the upstream or of an interceptor behind this one, or the
    /// failure to get one; not about errors that other interceptors have made.
    private func isEvaluated(_ call: Call) -> Bool {
        call.upstreamError != nil || !call.hasOwnError
    }

    private static let retryAfterField = FieldName("retry-after")
    private static let pushbackField = FieldName("grpc-retry-pushback-ms")

    /// What the upstream says of a retry.
    private func readWishes(_ head: HTTPHead) {
        if let index = head.first(Self.retryAfterField) {
            retryAfter = RetryAfter.time(head.value(at: index), now: Clock.wall) ?? .zero
        }
        if let index = head.first(Self.pushbackField) { pushback = RetryPushback(head.value(at: index)) }
    }

    // MARK: Rules

    private func findCandidates(from start: Int, _ head: HTTPHead?, _ call: Call) {
        for index in start..<rules.count {
            let bit: UInt64 = 1 << UInt64(index)
            let holds = rules[index].condition.holds(for: head, error: call.upstreamError)
            candidates = holds ? candidates | bit : candidates & ~bit
        }
    }

    /// Asks the rules that have not been asked yet, until one decides or has to know more.
    private func decide(
        _ facts: ResponseFacts,
        _ call: Call,
        head: HTTPHead?,
        message: Message? = nil,
        end: ResponseEnd? = nil
    ) -> Verdict {
        while position < rules.count {
            let rule = rules[position]
            if candidates & 1 << UInt64(position) == 0 || rule.condition.holds(for: facts) == false {
                position += 1
                continue
            }
            if rule.condition.holds(for: facts) == nil { return .next }
            if rule.needsMessage, !facts.isMessageKnown { return .next }
            let headerRules = headerRules[position]
            position += 1
            if case .replace(let replacement, true) = rule.outcome {
                if let error = replace(replacement, headerRules, head, message, call) { return .failing(error, end) }
                if let body = replacement.body, message != nil { json = try? JSON.parse(body) }
                if facts.phase == .head { findCandidates(from: position, head, call) }
                var facts = facts
                facts.json = json
                return decide(facts, call, head: head, message: message, end: end)
            }
            position = rules.count
            switch rule.outcome {
            case .next: return .next
            case .fail(let error):
                // The text goes into logs.
                let json = facts.json.map(call.redactions.masked)
                return .failing(error.error(status: status, json: json, isProtoJSON: facts.isProtoJSON), end)
            case .replace(let replacement, _):
                if let error = replace(replacement, headerRules, head, message, call) { return .failing(error, end) }
                return .next
            case .retry(let plan): return retry(plan, facts.code, call, end)
            }
        }
        return .next
    }

    private func replace(
        _ replacement: ValidateReplacement,
        _ headerRules: HeaderRules?,
        _ head: HTTPHead?,
        _ message: Message?,
        _ call: Call
    ) -> RPCError? {
        if let head { replacement.apply(headerRules, to: head, call) }
        guard var body = replacement.body, let message else { return nil }
        do throws(RPCError) {
            if !call.isErrorInJSON(status) { body = try call.message(json: body.span, .response) }
        } catch {
            return error
        }
        message.replace(with: body.span)
        return nil
    }

    // MARK: Retries

    private func retry(_ plan: RetryPlan, _ code: RPCCode?, _ call: Call, _ end: ResponseEnd?) -> Verdict {
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
        let wait = RetryWait(call, on: worker, plan, delay: delay) { [unowned self] values in use(values, plan) }
        self.wait = wait
        wait.begin()
        return .suspend(wait.suspension)
    }

    /// How long to wait, and what is in the way of a retry.
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
    private func use(_ captured: [String: [UInt8]], _ plan: RetryPlan) {
        for (name, text) in plan.set {
            guard let value = text.filled({ captured[$0] }) else { continue }
            headers.removeAll { $0.name == name }
            headers.append((name, value))
        }
    }
}
