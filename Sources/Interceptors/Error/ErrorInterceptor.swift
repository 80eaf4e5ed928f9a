internal import Bytes
internal import Configuration
internal import HTTP
internal import Proxy
internal import RPC

/// Tells callers other errors than those that have come.
struct ErrorPlan: InterceptorPlan {
    static let kind = InterceptorKind(
        name: "error",
        summary: """
            Changes errors on their way to the caller. It sees errors of the upstream, of Martlet in its place, \
            and of later interceptors that change responses. It does not see rejections of requests by other \
            interceptors. The first rule that matches the code applies. Plain HTTP responses of an upstream are \
            not such errors.
            """,
        options: ErrorRule.options + [
            Option("map", .sections(ErrorRule.options), "A list of rules with these options.")
        ],
        plan: { section, _ in ErrorPlan(section) }
    )

    let events: EventSet = .responseErrors
    let rules: [ErrorRule]

    init(_ section: Section) {
        guard section.has("map") else {
            rules = [ErrorRule(section)]
            return
        }
        for option in ErrorRule.options where section.has(option.key) {
            let problem = "\"map\" and \"\(option.key)\" cannot be set together"
            section.report("\(problem); write \"\(option.key)\" into a rule", at: option.key)
        }
        rules = section.sections("map").map(ErrorRule.init)
        if rules.isEmpty {
            section.report(
                "the interceptor has no rule; add \"code\", \"message\", \"details: drop\", \"metadata\" or \"map\"",
                at: "map"
            )
        }
    }

    func instance(on worker: WorkerServices) -> any Interceptor { ErrorInterceptor(rules) }
}

/// Changes the errors of one worker's calls.
final class ErrorInterceptor: Interceptor {
    private let rules: [ErrorRule]

    init(_ rules: [ErrorRule]) { self.rules = rules }

    func responseEnd(_ end: ResponseEnd, _ call: Call) -> Verdict {
        guard let error = end.error, let rule = rules.first(where: { $0.applies(to: error.code) }) else { return .next }
        let changed = rule.changed(error)
        if changed != error { end.error = changed }
        for (name, value) in rule.metadata {
            end.trailers.add(name: Array(name.utf8).span, value: Array(value.utf8).span)
        }
        return .next
    }
}
