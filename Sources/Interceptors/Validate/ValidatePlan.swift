internal import Configuration
internal import Proxy
internal import RPC
internal import Time

/// Asks rules about responses; one that says so has the call retried.
struct ValidatePlan: InterceptorPlan, Redacting, Pointing {
    let events: EventSet
    let redactions: Redactions
    let rules: [ValidateRule]
    let maxRetries: Int
    /// The time that a part of a response waits for an open rule.
    let holdLimit: Duration

    /// The most rules, with those that come with Martlet; they are kept as bits of a word.
    private static let maxRules = 64

    init(_ section: Section, _ context: BuildContext) {
        let shared = SharedRetry(section, "retry", context)
        let all = section.sections("rules").flatMap { ValidateRule.rules($0, shared) }
        maxRetries = section.integer("max_retries")
        holdLimit = section.duration("hold") ?? .max
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

    var places: [MessagePlace] { rules.flatMap(\.places) }

    func instance(on worker: WorkerServices) -> any Interceptor { ValidateInterceptor(self, on: worker) }
}
