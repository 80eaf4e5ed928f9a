internal import Configuration

/// A chain as a configuration has it: for each interceptor its plan, and the calls that it is for.
///
/// Made on the main thread, and shared by the workers, which make a `CompiledChain` of it.
struct ChainPlan: Sendable {
    /// One interceptor.
    struct Link: Sendable {
        let name: String
        let condition: Condition?
        let shapes: CallShapes
        let interceptor: any InterceptorPlan
        /// Whether what it rejects goes back through the links before it.
        let unwinds: Bool
        /// Whether it runs for each attempt.
        let isPerAttempt: Bool
        /// Whether it is applied again where an attempt before it begins again.
        let runsAgain: Bool
    }

    /// The most interceptors of a chain; those a call has entered are kept as bits of a word.
    static let maxLength = 64

    let links: [Link]

    /// A chain without interceptors.
    init() { links = [] }

    /// Plans the interceptors of `items`; what is wrong with them is reported.
    init(_ items: [ChainItem], of kinds: Registry, _ resources: BuildResources, into diagnostics: Diagnostics) {
        if items.count > Self.maxLength {
            let problem = "a chain can have at most \(Self.maxLength) interceptors; split it"
            diagnostics.report(problem, at: items[Self.maxLength].mark)
        }
        let items = items.prefix(Self.maxLength)
        var known: [ChainItem] = []
        links = items.compactMap { item in
            let link = Link(item, in: Array(items), of: kinds, resources, into: diagnostics)
            if link != nil { known.append(item) }
            return link
        }
        reportSharing(known, resources.calls, into: diagnostics)
    }

    /// What is kept out of all that is shown of the calls.
    var redactions: Redactions {
        links.reduce(into: Redactions()) { all, link in
            if let redacting = link.interceptor as? any Redacting { all.formUnion(redacting.redactions) }
        }
    }

    /// Reports what the links without a condition have against an upstream.
    func reportRejections(to upstream: UpstreamSettings, of items: [ChainItem], into diagnostics: Diagnostics) {
        for link in links where link.condition == nil {
            guard let rejection = link.interceptor.rejection(of: upstream) else { continue }
            let mark = items.first { $0.name == link.name }?.kindMark ?? upstream.mark
            diagnostics.report(rejection, at: mark)
        }
    }
}

extension ChainPlan.Link {
    /// Plans the interceptor of an item; none if there is no such kind, which is reported.
    fileprivate init?(
        _ item: ChainItem,
        in chain: [ChainItem],
        of kinds: Registry,
        _ resources: BuildResources,
        into diagnostics: Diagnostics
    ) {
        guard let kind = kinds.kind(named: item.kind) else {
            let suggestion = Suggestion.text(for: item.kind, among: kinds.kinds.map(\.name))
            let problem = "unknown interceptor kind \(Diagnostic.quote(item.kind)); \(suggestion)"
            diagnostics.report(problem, at: item.kindMark)
            return nil
        }
        name = item.name
        condition = item.when.map { Condition($0, into: diagnostics) }
        shapes = item.applies
        let section = Section(item.options, kind.options, shorthand: kind.shorthand, into: diagnostics)
        interceptor = kind.plan(
            section,
            BuildContext(name: item.name, chain: chain, resources: resources)
        )
        unwinds = item.unwinds
        isPerAttempt = item.per.map { $0 == .attempt } ?? kind.isPerAttempt
        runsAgain = isPerAttempt || kind.rewrites
        if let problem = Self.earlyProblem(item, condition, interceptor.events) {
            diagnostics.report(problem, at: item.when?.mark ?? item.mark)
        }
    }

    /// What is wrong with an interceptor that is for some outcomes only and acts before there is one.
    private static func earlyProblem(_ item: ChainItem, _ condition: Condition?, _ events: EventSet) -> String? {
        guard let condition, condition.codes != 0, !events.isEmpty else { return nil }
        guard events.early != .responseHead else {
            guard item.applies != .unary, !condition.isUnary else { return nil }
            let problem =
                "\"code\" is known only at the end of a response, but the head of a stream is sent before that"
            return "\(problem); add \"applies: unary\", or change trailers"
        }
        guard !events.early.isEmpty else { return nil }
        return "\"code\" is known only at the end of a response, but \(item.kind) acts before that; remove \"code\""
    }
}
