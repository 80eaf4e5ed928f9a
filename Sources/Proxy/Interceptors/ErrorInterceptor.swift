internal import Bytes
internal import Configuration
internal import HTTP
internal import RPC

/// Tells callers other errors than those that have come.
final class ErrorInterceptor: Interceptor {
    static let kind = InterceptorKind(
        name: "error",
        summary: """
            Changes errors on their way to the caller: those of the upstream, those that Martlet tells in its place, and \
            what interceptors further on make of responses; a request that another interceptor rejects is not among them. The \
            first rule that is for the code holds. Responses of an upstream in plain HTTP have no such errors.
            """,
        options: ErrorRule.options + [
            Option("map", .sections(ErrorRule.options), "Rules with these options, where there are several.")
        ],
        make: { section, _ in ErrorInterceptor(section) }
    )

    let events: EventSet = .responseErrors
    private let rules: [ErrorRule]

    init(_ section: Section) {
        guard section.has("map") else {
            rules = [ErrorRule(section)]
            return
        }
        for option in ErrorRule.options where section.has(option.key) {
            let problem = "\"map\" and \"\(option.key)\" exclude each other"
            section.report("\(problem); write \"\(option.key)\" into a rule", at: option.key)
        }
        rules = section.sections("map").map(ErrorRule.init)
        if rules.isEmpty { section.report("there is no rule here; add one", at: "map") }
    }

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
