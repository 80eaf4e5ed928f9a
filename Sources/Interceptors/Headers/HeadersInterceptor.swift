internal import Bytes
internal import Configuration
internal import HTTP
internal import Protocols
internal import Proxy

/// Changes headers and trailers by rules.
struct HeadersPlan: InterceptorPlan {
    static let kind = InterceptorKind(
        name: "headers",
        summary:
            """
            Removes, renames, replaces and sets headers, sets headers that are missing, and adds headers, in \
            this order. Values may be templates. Templates see the request before the changes.
            """,
        rewrites: true,
        options: [
            Option("request", .section(HeaderRulesPlan.options), "Rules for the request headers."),
            Option("response", .section(HeaderRulesPlan.options), "Rules for the response headers."),
            Option(
                "trailers",
                .section(HeaderRulesPlan.options),
                "Rules for the response trailers. In unary Connect calls these are the `trailer-` headers."
            ),
        ],
        plan: { section, _ in HeadersPlan(section) }
    )

    let events: EventSet
    let request: HeaderRulesPlan?
    let response: HeaderRulesPlan?
    let trailers: HeaderRulesPlan?
    let prefixedTrailers: HeaderRulesPlan?

    init(_ section: Section) {
        let rules = { (key: String, prefix: String) in
            section.has(key) ? HeaderRulesPlan(section.section(key), prefix: prefix) : nil
        }
        request = rules("request", "")
        response = rules("response", "")
        trailers = rules("trailers", "")
        prefixedTrailers = trailers == nil ? nil : rules("trailers", "trailer-")
        if request == nil, response == nil, trailers == nil {
            let advice = "add \"request\", \"response\" or \"trailers\""
            section.diagnostics.report("the interceptor changes nothing; \(advice)", at: section.mark)
        }
        var events: EventSet = []
        if request != nil { events.insert(.requestHead) }
        if response != nil { events.insert(.responseHead) }
        if trailers != nil { events.insert(.responseTrailers) }
        self.events = events
    }

    func instance(on worker: WorkerServices) -> any Interceptor { HeadersInterceptor(self) }
}

/// Changes the heads and trailers of one worker's calls.
final class HeadersInterceptor: Interceptor {
    private let request: HeaderRules?
    private let response: HeaderRules?
    private let trailers: HeaderRules?
    /// The rules for trailers as they read where trailers are headers with a prefix.
    private let prefixedTrailers: HeaderRules?

    init(_ plan: HeadersPlan) {
        request = plan.request.map(HeaderRules.init)
        response = plan.response.map(HeaderRules.init)
        trailers = plan.trailers.map(HeaderRules.init)
        prefixedTrailers = plan.prefixedTrailers.map(HeaderRules.init)
    }

    func requestHead(_ call: Call) -> Verdict {
        request?.apply(to: call.request, for: call)
        return .next
    }

    /// Also called where trailers are in the head.
    func responseHead(_ head: HTTPHead, _ call: Call) -> Verdict {
        response?.apply(to: head, for: call)
        if call.hasTrailersInHead { prefixedTrailers?.apply(to: head, for: call) }
        return .next
    }

    func responseEnd(_ end: ResponseEnd, _ call: Call) -> Verdict {
        trailers?.apply(to: end.trailers, for: call)
        return .next
    }
}
