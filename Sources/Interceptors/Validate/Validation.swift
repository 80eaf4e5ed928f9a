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
///
/// Rules apply in their order. A rule is open while a part of what it asks about is not known yet. If a later rule is for the
/// message, and an open rule may come before it, the message is held until the open rule is decided; so is the head.
final class Validation {
    /// The events of the response that a rule may change.
    private struct Target {
        var head: HTTPHead?
        var message: Message?
        var end: ResponseEnd?
    }

    private let rules: [ValidateRule]
    private let headerRules: [HeaderRules?]
    private let holdLimit: Duration
    let maxRetries: Int
    let worker: WorkerServices
    /// The rules that may still be for the response, a bit each.
    private var candidates: UInt64 = 0
    /// Whether rules are open that may ask about what comes.
    var hasCandidates: Bool { candidates != 0 }
    private(set) var status = 0
    /// The first message, if it is JSON.
    private var view: MessageView?
    private var isEmpty = true
    private var held = HeldResponse()
    /// The facts at the arrival of the held message.
    private var factsOfHeld: ResponseFacts?
    private(set) var retryAfter = Duration.zero
    private(set) var pushback: RetryPushback?
    var alternates = 0
    /// What goes into the request when it is retried.
    var headers: [(name: FieldName, value: [UInt8])] = []
    private var wait: RetryWait?

    init(_ plan: ValidatePlan, _ headerRules: [HeaderRules?], on worker: WorkerServices) {
        (rules, maxRetries, holdLimit, self.worker) = (plan.rules, plan.maxRetries, plan.holdLimit, worker)
        self.headerRules = headerRules
    }

    // MARK: Events

    /// Sets the headers that a retry adds.
    func set(on request: HTTPHead) {
        for (name, value) in headers { request.set(name, value.span) }
    }

    func responseHead(_ head: HTTPHead, _ call: Call) -> Verdict {
        (candidates, wait, factsOfHeld) = (0, nil, nil)
        held.dropAll()
        guard isEvaluated(call) else { return .next }
        (status, view, isEmpty, pushback, retryAfter) = (head.status, nil, true, nil, .zero)
        if call.upstreamError == nil { readWishes(head) }
        findCandidates(head, call)
        let facts = ResponseFacts(head: head, call)
        if let verdict = decide(facts, Target(head: head), call) { return verdict }
        guard holdLimit > .zero, mayChangeHead(facts, call) || mayRetryMessage(facts, call) else { return .next }
        return hold(held.hold(head), call)
    }

    func responseMessage(_ payload: Span<UInt8>, _ message: Message, _ call: Call) -> Verdict {
        if payload.count > 0 { isEmpty = false }
        guard message.number == 1 else {
            // Messages of a stream wait for no rule on its end.
            releaseUndecided(call)
            return .next
        }
        guard candidates != 0 else { return .next }
        let facts = ResponseFacts(message: message, payload, status: status, call)
        view = facts.view
        if let flaw = message.flaw, flaw.isTooLarge, openRules({ rules[$0].isForMessage }) {
            return releasing(with: .reject(flaw.error(of: message)))
        }
        let target = Target(head: held.head ?? call.heldHead, message: message)
        if let verdict = decide(facts, target, call) { return releasing(with: verdict) }
        guard mayChangeMessage(facts, call) else {
            if !mayChangeHead(facts, call) { release() }
            return .next
        }
        if canHold(payload.count, call) {
            factsOfHeld = facts
            return hold(held.hold(message), call)
        }
        return releasing(with: decide(facts, target, call, inOrder: false) ?? .next)
    }

    func responseEnd(_ end: ResponseEnd, _ call: Call) -> Verdict {
        guard wait == nil else { return .next }
        guard isEvaluated(call) else { return releasing(with: .next) }
        // A response that broke off is another thing than the one whose head has come.
        if call.upstreamError != nil, call.hasUpstreamResponse { findCandidates(nil, call) }
        guard candidates != 0 else { return releasing(with: .next) }
        readWishes(end.trailers)
        let isEmpty =
            isEmpty
            && (call.rpcProtocol.hasEnvelopes || call.responseHasOneBody)
        let facts = ResponseFacts(end: end, view, isEmpty: isEmpty)
        let target = Target(head: held.head ?? call.heldHead, message: held.message, end: end)
        return releasing(with: decide(facts, target, call) ?? .next)
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
            retryAfter = RetryAfter.time(head.value(at: index), now: worker.loop.clock.wall) ?? .zero
        }
        if let index = head.first(Self.pushbackField) { pushback = RetryPushback(head.value(at: index)) }
    }

    // MARK: Holding

    /// Whether a rule that is open may change the head of a response in envelopes, which goes out before its end.
    private func mayChangeHead(_ facts: ResponseFacts, _ call: Call) -> Bool {
        call.rpcProtocol.hasEnvelopes
            && openRules { headerRules[$0] != nil && rules[$0].condition.holds(for: facts) != false }
    }

    /// Whether a rule on the message, or one that replaces or retries it, waits only for the end of the response.
    private func mayChangeMessage(_ facts: ResponseFacts, _ call: Call) -> Bool {
        mayRetryMessage(facts, call)
            || openRules { rules[$0].isForMessage && rules[$0].condition.holds(for: facts) != false }
    }

    /// Whether a rule that is open may retry a response that consists of one message and its end.
    ///
    /// The head waits for the end, and the message with it: no call is retried after a part of the response has left.
    private func mayRetryMessage(_ facts: ResponseFacts, _ call: Call) -> Bool {
        call.rpcProtocol.hasEnvelopes && !call.responseHasOneBody && canRetry(call)
            && openRules { rules[$0].isRetry && rules[$0].condition.holds(for: facts) != false }
            && call.hasUnaryResponse
    }

    private func openRules(_ isMeant: (Int) -> Bool) -> Bool {
        var rest = candidates
        while rest != 0 {
            if isMeant(rest.trailingZeroBitCount) { return true }
            rest &= rest - 1
        }
        return false
    }

    /// Whether a message of this size can wait for the end of the response: not in a stream that is known or still sends.
    private func canHold(_ size: Int, _ call: Call) -> Bool {
        guard call.hasUnaryResponse || !call.isKnownToStream && !call.awaitsBody else { return false }
        guard holdLimit > .zero, size <= call.maxHeldBytes else {
            worker.limitHit(.heldResponse)
            return false
        }
        return true
    }

    /// Holds an event of the response, bounded in time and bytes, so that no call ends with `timeouts.suspension` for it.
    private func hold(_ suspension: Suspension, _ call: Call) -> Verdict {
        let limit = min(holdLimit, call.suspensionTimeout.map { $0 / 2 } ?? .max)
        held.limit(to: limit, of: call) { [unowned self, unowned call] in
            guard !held.isEmpty, wait == nil else { return }
            worker.limitHit(.heldResponse)
            releaseUndecided(call)
        }
        return .suspend(suspension)
    }

    /// Lets what is held continue although a rule is open: rules that can be applied now are.
    private func releaseUndecided(_ call: Call) {
        guard !held.isEmpty, wait == nil else { return }
        guard let facts = factsOfHeld, let message = held.message else { return release() }
        let target = Target(head: held.head ?? call.heldHead, message: message)
        _ = releasing(with: decide(facts, target, call, inOrder: false) ?? .next)
    }

    /// The verdict for the event of a hook, which held events before it have instead.
    private func releasing(with verdict: Verdict) -> Verdict {
        guard !held.isEmpty, wait == nil else { return verdict }
        release(verdict)
        return .next
    }

    /// Lets held events continue, the first of them with a verdict.
    private func release(_ verdict: Verdict = .next) {
        let suspensions = held.takeAll()
        suspensions.first?.resume(verdict)
        for suspension in suspensions.dropFirst() { suspension.resume() }
    }

    // MARK: Rules

    private func findCandidates(after last: Int = -1, _ head: HTTPHead?, _ call: Call) {
        for index in (last + 1)..<rules.count {
            let bit: UInt64 = 1 << UInt64(index)
            let holds = rules[index].condition.holds(for: head, error: call.upstreamError)
            candidates = holds ? candidates | bit : candidates & ~bit
        }
    }

    /// Applies the first rule that holds.
    ///
    /// - Parameters:
    ///   - facts: what is known of the response.
    ///   - target: what the rule may change.
    ///   - call: the call.
    ///   - inOrder: whether a rule that is open keeps later ones from being applied.
    /// - Returns: the verdict, or `nil` if an open rule is to decide first.
    private func decide(
        _ facts: ResponseFacts,
        _ target: Target,
        _ call: Call,
        inOrder: Bool = true
    ) -> Verdict? {
        var (facts, rest) = (facts, candidates)
        while rest != 0 {
            let index = rest.trailingZeroBitCount
            let bit: UInt64 = 1 << UInt64(index)
            rest &= ~bit
            guard let holds = rules[index].holds(for: facts) else {
                if inOrder { return nil }
                continue
            }
            candidates &= ~bit
            guard holds else { continue }
            guard case .replace(let replacement, true) = rules[index].outcome else {
                candidates = 0
                return verdict(of: rules[index].outcome, headerRules[index], facts, target, call)
            }
            if let error = replace(replacement, headerRules[index], target, call) {
                return fail(error, target)
            }
            if let body = replacement.body, target.message != nil, let json = try? JSON.parse(body) {
                view = view?.with(json) ?? MessageView(json)
            }
            if facts.phase == .head, let head = target.head {
                findCandidates(after: index, head, call)
                rest = candidates & ~(bit | bit - 1)
            }
            facts.view = view
        }
        return inOrder || candidates == 0 ? .next : nil
    }

    private func verdict(
        of outcome: ValidateRule.Outcome,
        _ headerRules: HeaderRules?,
        _ facts: ResponseFacts,
        _ target: Target,
        _ call: Call
    ) -> Verdict {
        switch outcome {
        case .next: return .next
        case .fail(let error):
            // The text goes into logs.
            let view = facts.view.map { $0.with(call.redactions.masked($0.root)) }
            return fail(error.error(status: status, view), target)
        case .replace(let replacement, _):
            return replace(replacement, headerRules, target, call).map { fail($0, target) } ?? .next
        case .retry(let plan): return retry(plan, facts.code, call, target.end)
        }
    }

    /// Makes an error of the response, without its message if that is held.
    private func fail(_ error: RPCError, _ target: Target) -> Verdict {
        if target.end != nil { held.message?.drop() }
        return .failing(error, target.end)
    }

    private func replace(
        _ replacement: ValidateReplacement,
        _ headerRules: HeaderRules?,
        _ target: Target,
        _ call: Call
    ) -> RPCError? {
        if let head = target.head { replacement.apply(headerRules, to: head, call) }
        guard var body = replacement.body, let message = target.message else { return nil }
        do throws(RPCError) {
            if !call.isErrorInJSON(status) { body = try call.message(json: body.span, .response) }
        } catch {
            return error
        }
        message.replace(with: body.span)
        return nil
    }

    // MARK: Retries

    /// Waits for what is to be done before a retry; a held event waits in the place of the one that has just come.
    func suspend(for plan: RetryPlan, delay: Duration, _ call: Call, _ end: ResponseEnd?) -> Verdict {
        let first = held.takeFirst()
        let wait = RetryWait(call, on: worker, plan, delay: delay, suspension: first ?? Suspension(), end: end) {
            [unowned self] values in use(values, plan)
        }
        self.wait = wait
        wait.begin()
        return first == nil ? .suspend(wait.suspension) : .next
    }
}
