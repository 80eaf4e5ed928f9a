internal import Configuration
internal import Documents
internal import Events
internal import HTTP
internal import Protocols
internal import Proxy
internal import RPC

/// Has a mock serve calls.
struct MockPlan: InterceptorPlan, Typed, DependsOnCaller {
    static let kind = InterceptorKind(
        name: "mock",
        summary: """
            Serves calls by the rules of a mock, in place of the upstream. The interceptors after it do not see \
            these calls.
            """,
        responds: true,
        options: [
            Option("name", .string, required: true, example: "orders", "The name of a mock in `mocks`."),
            Option("unmatched", .choice(MockSettings.unmatchedNames), "Replaces `unmatched` of the mock."),
        ],
        shorthand: "name",
        prepare: { resources, diagnostics in
            for settings in resources.mocks {
                resources.prepared["mock:\(settings.name)"] = Mock(settings, into: diagnostics)
            }
        },
        plan: { MockPlan($0, $1) }
    )

    let events: EventSet
    let mock: Mock?
    let unmatched: Mock.Unmatched
    /// Whether a call waits at its head until its rule is known: where it goes, or how it is spoken to, depends on that.
    let waitsForRule: Bool
    /// Whether its calls go to the upstream, whose responses are compared with a tape.
    let comparesLive: Bool

    init(_ section: Section, _ context: BuildContext) {
        let name = section.string("name")
        mock = context.resources.prepared["mock:\(name)"] as? Mock
        if mock == nil {
            let known = context.resources.mocks.map(\.name)
            let advice = known.isEmpty ? "add it below \"mocks\"" : Suggestion.text(for: name, among: known)
            section.report("no mock is named \(Diagnostic.quote(name)); \(advice)", at: "name")
        }
        unmatched = section.string(ifGiven: "unmatched").flatMap(Mock.Unmatched.init) ?? mock?.unmatched ?? .empty
        comparesLive = mock?.tape?.comparesLive == true
        let mayWait = unmatched == .next || comparesLive || mock?.hasRawRules == true
        waitsForRule = mayWait && mock.map { $0.asks > .head } ?? false
        var events: EventSet = waitsForRule ? [.requestHead, .requestMessages, .requestEnd] : .requestHead
        if unmatched == .next { events.formUnion([.responseHead, .finished]) }
        if unmatched == .next, mock?.journalLimit ?? 0 > 0 {
            events.formUnion([.requestMessages, .requestEnd, .responseMessages, .plainBytes])
        }
        if comparesLive { events.formUnion([.responseMessages, .plainBodies]) }
        self.events = events
        if let mock, let missing = mock.tape?.missing, unmatched != .next {
            section.diagnostics.report(missing.text, at: missing.mark)
        }
        if comparesLive, unmatched != .next {
            section.report("a mock with \"diff\" needs the upstream; write unmatched: next", at: "name")
        }
    }

    var callerParts: Set<String> { mock?.callerParts ?? [] }

    func check(_ types: TypeCheck) { mock?.check(types) }

    func checkWithoutTypes(into diagnostics: Diagnostics) {
        mock?.checkWithoutTypes(isFake: unmatched == .fake, into: diagnostics)
    }

    func instance(on worker: WorkerServices) -> any Interceptor { MockInterceptor(self, on: worker) }
}

/// Has a mock serve one worker's calls.
final class MockInterceptor: Interceptor {
    /// What becomes of a call that is not served here, or not yet.
    enum CallState {
        /// Its first message decides on that.
        case waiting(Suspension, MockContext)
        /// The upstream serves it, and a tape says how it did before.
        case compared(TapeComparison)
        /// The upstream serves it, and this is told how.
        case passed(PassedCall)
    }

    private let plan: MockPlan
    private let server: MockServer?

    init(_ plan: MockPlan, on worker: WorkerServices) {
        self.plan = plan
        server = plan.mock.map { MockServer($0, plan.unmatched, on: worker) }
    }

    func requestHead(_ call: Call) -> Verdict {
        guard let server, server.mock.isFor(call) else { return .next }
        if let missing = call.missingTypes, call.lacksMessageTypes { return .reject(missing) }
        endAttempt(call)
        let context = MockContext(call, of: server.mock, on: server.worker, keepsAll: server.mock.asks == .all)
        switch server.mock.choose(context, server.memory) {
        case .rule(let rule): return use(rule, context)
        case .none(let miss): return pass(miss, context)
        case .message where !plan.waitsForRule: return server.serve(nil)
        case .message:
            let suspension = Suspension()
            suspension.heldBytes = { [unowned self, unowned call] in
                guard case .waiting(_, let context)? = call[stateOf: self] else { return 0 }
                return context.heldBytes
            }
            call[stateOf: self] = .waiting(suspension, context)
            return .suspend(suspension)
        }
    }

    func maxJSON(of message: Message, _ call: Call) -> Int { call[stateOf: self] == nil ? 0 : .max }

    func requestMessage(_ payload: Span<UInt8>, _ message: Message, _ call: Call) -> Verdict {
        if case .passed(let passed)? = call[stateOf: self] {
            passed.passed(payload, message, call)
        } else {
            decide(call) { $0.received(payload, message) }
        }
        return .next
    }

    func requestEnd(_ call: Call) -> Verdict {
        if case .passed(let passed)? = call[stateOf: self] {
            passed.closed(call)
            return .next
        }
        // A request may have no message at all, and plain HTTP has a body instead.
        let body = call.rpcProtocol == .http ? call.heldRequest(at: self) : []
        decide(call) { context in
            if call.rpcProtocol == .http { context.received(body.span) }
            context.ended()
        }
        return .next
    }

    /// More is known of a call that waits for that: it is served here, or goes on, or waits further.
    private func decide(_ call: Call, _ change: (inout MockContext) -> Void) {
        guard let server, case .waiting(let suspension, var context)? = call[stateOf: self] else { return }
        // Nobody else has it meanwhile, so that it is not copied.
        call[stateOf: self] = nil
        change(&context)
        if let problem = context.problem {
            let verdict =
                plan.unmatched == .next
                ? pass(MockMiss("is for messages of its type"), context) : server.invalid(problem, context)
            return suspension.resume(verdict)
        }
        switch server.mock.choose(context, server.memory) {
        case .rule(let rule): suspension.resume(use(rule, context))
        case .none(let miss): suspension.resume(pass(miss, context))
        case .message: call[stateOf: self] = .waiting(suspension, context)
        }
    }

    /// There is a rule for the call.
    private func use(_ rule: MockRule, _ context: MockContext) -> Verdict {
        guard let server else { return .next }
        guard plan.comparesLive else { return server.serve(rule) }
        let journal = MockRecorder(context, server.memory, limit: server.mock.journalLimit)
        context.call[stateOf: self] = .compared(TapeComparison(context, with: rule, journal))
        return .next
    }

    /// There is no rule for the call.
    private func pass(_ miss: MockMiss, _ context: MockContext) -> Verdict {
        guard let server else { return .next }
        guard plan.unmatched == .next else { return server.unmatched(miss, context) }
        context.call[stateOf: self] = server.pass(miss, context).map { .passed(PassedCall($0)) }
        return .next
    }

    /// A retry begins, if there was an attempt before.
    private func endAttempt(_ call: Call) {
        let problem = MockJournal.End.failed("the call was retried")
        switch call[stateOf: self] {
        case .passed(let passed)?: passed.retried(call)
        case .compared(let comparison)?: comparison.journal?.ended(problem, at: call.now)
        case .waiting?, nil: return
        }
        call[stateOf: self] = nil
    }

    // MARK: The response of an upstream

    func responseHead(_ head: HTTPHead, _ call: Call) -> Verdict {
        if case .passed(let passed)? = call[stateOf: self] { passed.responded(head, call) }
        compare(call) { $0.received(status: head.status) }
        return .next
    }

    func responseMessage(_ payload: Span<UInt8>, _ message: Message, _ call: Call) -> Verdict {
        if case .passed(let passed)? = call[stateOf: self] { passed.passed(payload, message, call) }
        guard case .compared(var comparison)? = call[stateOf: self] else { return .next }
        comparison.received(payload, message.json(payload, call))
        call[stateOf: self] = .compared(comparison)
        return .next
    }

    func plainBytes(_ bytes: Span<UInt8>, _ direction: Direction, _ call: Call) {
        if case .passed(let passed)? = call[stateOf: self] { passed.passed(bytes, direction) }
    }

    func finished(_ call: Call) {
        if case .passed(let passed)? = call[stateOf: self] { passed.finished(call) }
        compare(call) { $0.finish() }
    }

    private func compare(_ call: Call, _ change: (inout TapeComparison) -> Void) {
        guard case .compared(var comparison)? = call[stateOf: self] else { return }
        change(&comparison)
        call[stateOf: self] = .compared(comparison)
    }
}
