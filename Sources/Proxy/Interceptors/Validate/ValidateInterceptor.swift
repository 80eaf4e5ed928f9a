internal import Bytes
internal import Configuration
internal import Documents
internal import Events
internal import HTTP
internal import Protocols
internal import RPC
internal import Telemetry
internal import Time

/// Asks rules about responses; one that says so has the call retried.
final class ValidateInterceptor: Interceptor, Redacting {
    let events: EventSet
    /// What comes behind a response that waits is dropped with it, if the call is retried.
    let isSerial = true
    let redactions: Redactions
    private let rules: [ValidateRule]
    private let maxRetries: Int

    // MARK: What is known of one call

    /// The rule to be asked next; past the last when that is over.
    private var position = 0
    /// The rules for whose responses the head is one, a bit each.
    private var candidates: UInt64 = 0
    private var status = 0
    private var json: JSONValue?
    private var isEmpty = true
    private var retryAfter = Duration.zero
    private var pushback: RetryPushback?
    private var alternates = 0
    /// What goes into the request when it is retried.
    private var headers: [(name: FieldName, value: [UInt8])] = []
    private var wait: RetryWait?

    /// The most rules, with those that come with Martlet; they are kept as bits of a word.
    private static let maxRules = 64

    init(_ section: Section, _ context: CompileContext) {
        let shared = SharedRetry(section, "retry", context)
        let all = section.sections("rules").flatMap { ValidateRule.rules($0, shared) }
        maxRetries = section.integer("max_retries")
        if all.isEmpty { section.report("the interceptor has no rule; add one to \"rules\"", at: "rules") }
        if all.count > Self.maxRules {
            section.report(
                "there are more than \(Self.maxRules) rules; split them between two interceptors",
                at: "rules"
            )
        }
        rules = Array(all.prefix(Self.maxRules))
        Self.check(section, rules)
        var events: EventSet = .responseHead
        if rules.contains(where: { $0.needsMessage || $0.condition.asksMessage }) {
            events.formUnion([.responseMessages, .plainBodies, .responseEnd])
        }
        if rules.contains(where: { $0.condition.asksEnd }) { events.insert(.responseEnd) }
        if rules.contains(where: { $0.condition.asksError }) { events.insert(.responseErrors) }
        let plans = rules.compactMap { if case .retry(let plan) = $0.outcome { plan } else { nil } }
        if !plans.isEmpty, maxRetries > 0 { events.insert(.retries) }
        if plans.contains(where: { !$0.set.isEmpty }) { events.insert(.requestHead) }
        self.events = events
        redactions = Redactions(headers: plans.flatMap { $0.set.map(\.name) })
    }

    /// Reports what can do nothing.
    private static func check(_ section: Section, _ rules: [ValidateRule]) {
        let sections = section.sections("rules")
        if !section.has("max_retries"), sections.contains(where: { $0.has("retry") }) {
            let problem = "\"retry\" has no effect without \"max_retries\""
            section.diagnostics.report("\(problem); add for example max_retries: 3", at: section.mark)
        }
        guard !rules.isEmpty, rules.allSatisfy({ if case .next = $0.outcome { true } else { false } }) else { return }
        let advice = "add a rule with \"fail\", \"replace\", \"retry\" or \"use\""
        section.report("no rule changes a response; \(advice)", at: "rules")
    }

    private init(_ shared: ValidateInterceptor) {
        (events, redactions) = (shared.events, shared.redactions)
        (rules, maxRetries) = (shared.rules, shared.maxRetries)
    }

    func forCall() -> any Interceptor { ValidateInterceptor(self) }

    // MARK: Events

    func requestHead(_ call: Call) -> Verdict {
        for (name, value) in headers { call.request.set(name, value.span) }
        return .next
    }

    func responseHead(_ head: HTTPHead, _ call: Call) -> Verdict {
        position = rules.count
        guard isEvaluated(call) else { return .next }
        (position, status, json, isEmpty, pushback, wait) = (0, head.status, nil, true, nil, nil)
        retryAfter = .zero
        if call.error == nil { readWishes(head) }
        findCandidates(from: 0, head, call)
        return decide(ResponseFacts(head: head, call), call, head: head)
    }

    func responseMessage(_ payload: Span<UInt8>, _ message: Message, _ call: Call) -> Verdict {
        if payload.count > 0 { isEmpty = false }
        guard position < rules.count, message.number == 1 else { return .next }
        let facts = ResponseFacts(message: payload, status: status, call)
        json = facts.json
        return decide(facts, call, head: call.heldHead, message: message)
    }

    func responseEnd(_ end: ResponseEnd, _ call: Call) -> Verdict {
        guard isEvaluated(call) else { return .next }
        // A response that broke off is another thing than the one whose head has come.
        if call.error != nil, call.hasUpstreamResponse {
            position = 0
            findCandidates(from: 0, nil, call)
        }
        guard position < rules.count else { return .next }
        readWishes(end.trailers)
        let isEmpty = isEmpty && (call.rpcProtocol.hasEnvelopes || call.responseForm == .bare || call.isHeadLast)
        return decide(ResponseFacts(end: end, json: json, isEmpty: isEmpty), call, head: call.heldHead, end: end)
    }

    /// Whether rules are asked about what has come: a response of the upstream or of an interceptor behind this one, or the
    /// failure to get one; not about errors that other interceptors have made.
    private func isEvaluated(_ call: Call) -> Bool {
        call.error != nil || call.ownOutcome?.isError != true
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
            let holds = rules[index].condition.holds(for: head, error: call.error)
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
            position += 1
            if case .replace(let replacement, true) = rule.outcome {
                replace(replacement, head, message, call)
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
                let json = facts.json.map(call.run.chain.redactions.masked)
                return .failing(error.error(status: status, json: json), end)
            case .replace(let replacement, _):
                replace(replacement, head, message, call)
                return .next
            case .retry(let plan): return retry(plan, facts.code, call, end)
            }
        }
        return .next
    }

    private func replace(_ replacement: ValidateReplacement, _ head: HTTPHead?, _ message: Message?, _ call: Call) {
        if let head { replacement.apply(to: head, call) }
        if let body = replacement.body, let message { message.replace(with: body.span) }
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
        guard call.route.upstream?.budget.withdraw(at: call.now) == true else {
            call.skipRetry(.rule, .budget)
            return .next
        }
        if plan.alternate != nil { alternates += 1 }
        guard plan.alternate != nil || plan.task != nil || delay > .zero else {
            use([:], plan)
            return .retry(.rule)
        }
        let wait = RetryWait(call, plan, delay: delay) { [unowned self] values in use(values, plan) }
        self.wait = wait
        wait.begin()
        return .suspend(wait.suspension)
    }

    /// How long to wait, and what is in the way of a retry.
    private func timing(_ plan: RetryPlan, _ code: RPCCode?, _ call: Call) -> (Duration, RetrySkipReason?) {
        if call.retries >= maxRetries { return (.zero, .attempts) }
        if let skipReason = call.retrySkipReason { return (.zero, skipReason) }
        if call.error?.endsCall == true { return (.zero, .deadline) }
        let status = call.error == nil ? status : 0
        guard plan.mayRepeat(call, status: status, code: code) else { return (.zero, .notIdempotent) }
        let chance = Double(call.worker.random.next() >> 11) * 0x1p-53
        var delay = max(plan.delay.time(after: call.retries, chance: chance), retryAfter)
        switch pushback {
        case .never: return (.zero, .pushback)
        case .after(let time): delay = max(delay, time)
        case nil: break
        }
        let time = call.now.adding(saturating: delay)
        let isTooLate =
            time == .max || delay >= call.listener.suspensionTimeout ?? .max || time >= call.deadline ?? .max
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
