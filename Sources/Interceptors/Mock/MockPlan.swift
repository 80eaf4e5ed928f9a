internal import Configuration
internal import Documents
internal import Protocols
internal import Proxy
internal import RPC

/// Has a mock serve calls.
struct MockPlan: InterceptorPlan {
    static let kind = InterceptorKind(
        name: "mock",
        summary: """
            Serves calls by the rules of a mock, in place of the upstream. The interceptors after it do not see \
            these calls.
            """,
        responds: true,
        options: [
            Option("name", .string, required: true, example: "orders", "The name of a mock in `mocks`."),
            Option(
                "unmatched",
                .choice(["empty", "unimplemented", "next"]),
                "Replaces `unmatched` of the mock."
            ),
        ],
        shorthand: "name",
        plan: { MockPlan($0, $1) }
    )

    let events: EventSet
    let mock: Mock?
    let unmatched: Mock.Unmatched

    init(_ section: Section, _ context: BuildContext) {
        let name = section.string("name")
        if let settings = context.resources.mocks.first(where: { $0.name == name }) {
            mock = Mock(settings, into: section.diagnostics)
        } else {
            mock = nil
            let known = context.resources.mocks.map(\.name)
            let advice = known.isEmpty ? "add it below \"mocks\"" : Suggestion.text(for: name, among: known)
            section.report("no mock is named \(Diagnostic.quote(name)); \(advice)", at: "name")
        }
        unmatched = section.string(ifGiven: "unmatched").flatMap(Mock.Unmatched.init) ?? mock?.unmatched ?? .empty
        events = unmatched == .next ? [.requestHead, .requestMessages, .requestEnd] : .requestHead
    }

    func instance(on worker: WorkerServices) -> any Interceptor { MockInterceptor(self, on: worker) }
}

/// Has a mock serve one worker's calls.
final class MockInterceptor: Interceptor {
    /// A call that goes on only if no rule is for its first message.
    struct CallState {
        let suspension: Suspension
    }

    private let plan: MockPlan
    private let upstream: LocalUpstream?

    init(_ plan: MockPlan, on worker: WorkerServices) {
        self.plan = plan
        upstream = plan.mock.map { worker.localUpstream(named: $0.name) }
    }

    func requestHead(_ call: Call) -> Verdict {
        guard let mock = plan.mock, mock.isFor(call) else { return .next }
        if let missing = call.missingTypes, call.lacksMessageTypes { return .reject(missing) }
        switch mock.choose(call, nil, isKnown: false, isProtoJSON: call.hasMessageTypes) {
        case .rule(let rule): return serve(rule, mock)
        case .none(let lack): return unmatched(lack, mock, call)
        case .message where plan.unmatched != .next: return serve(nil, mock)
        case .message:
            // Whether the call goes on to the upstream depends on its first message.
            let suspension = Suspension()
            call[stateOf: self] = CallState(suspension: suspension)
            return .suspend(suspension)
        }
    }

    func requestMessage(_ payload: Span<UInt8>, _ message: Message, _ call: Call) -> Verdict {
        if call[stateOf: self] != nil { decide(call, message.json(payload, call)) }
        return .next
    }

    func requestEnd(_ call: Call) -> Verdict {
        // A request may have no message at all.
        if call[stateOf: self] != nil { decide(call, nil) }
        return .next
    }

    /// The first message has come, or none will: the call that waits for that is served here, or goes on.
    private func decide(_ call: Call, _ message: JSONValue?) {
        guard let mock = plan.mock, let state = call[stateOf: self] else { return }
        call[stateOf: self] = nil
        switch mock.choose(call, message, isKnown: true, isProtoJSON: call.hasMessageTypes) {
        case .rule(let rule): state.suspension.resume(serve(rule, mock))
        case .none, .message: state.suspension.resume()
        }
    }

    private func serve(_ rule: MockRule?, _ mock: Mock) -> Verdict {
        guard let upstream else { return .next }
        let unmatched = plan.unmatched
        var chosen = rule
        // A further attempt is another call of the mock.
        return .serve(upstream) { MockCall($0, mock, chosen.take(), unmatched) }
    }

    private func unmatched(_ lack: String, _ mock: Mock, _ call: Call) -> Verdict {
        switch plan.unmatched {
        case .next: return .next
        case .empty where call.rpcProtocol != .http: return serve(nil, mock)
        case .empty, .unimplemented: return .reject(Self.error(lack, mock))
        }
    }

    /// The error of a call that no rule is for.
    static func error(_ lack: String, _ mock: Mock) -> RPCError {
        RPCError(.unimplemented, "mock \(mock.name): \(lack)")
    }
}
