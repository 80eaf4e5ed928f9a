internal import Configuration
internal import Policy
internal import Proxy
internal import Time

/// Has downloads that break off continued by a further attempt.
struct ResumePlan: InterceptorPlan {
    static let kind = InterceptorKind(
        name: "resume",
        summary: """
            Continues a response that breaks off: Martlet requests the rest from the upstream, and the caller notices \
            nothing. This is for GET in plain HTTP, and for responses with a length and a strong validator. Bytes of two \
            versions are never joined.
            """,
        isPerAttempt: true,
        options: [
            Option("max", .integer(in: 1...31), default: "3", "The limit of resumes for one response."),
            Option(
                "stalled",
                .timeout,
                default: "60s",
                """
                If the upstream sends nothing for this long while the caller reads, the response counts as broken off.
                """
            ),
        ] + RetryDelay.optional,
        plan: { section, _ in ResumePlan(section) }
    )

    let events: EventSet = .requestHead
    let policy: ResumePolicy

    init(_ section: Section) {
        RetryDelay.checkStrategy(section)
        policy = ResumePolicy(
            max: section.integer("max"),
            delay: RetryDelay(section),
            stalled: section.duration("stalled")
        )
    }

    func instance(on worker: WorkerServices) -> any Interceptor { ResumeInterceptor(policy) }
}

/// Lets the responses to one worker's calls be resumed.
final class ResumeInterceptor: Interceptor {
    private let policy: ResumePolicy

    init(_ policy: ResumePolicy) { self.policy = policy }

    func requestHead(_ call: Call) -> Verdict {
        call.resumesResponse(policy)
        return .next
    }
}
