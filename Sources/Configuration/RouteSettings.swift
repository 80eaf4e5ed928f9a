/// One route: which calls it takes, and what becomes of them.
public struct RouteSettings: Equatable, Sendable {
    /// The calls that the route takes; none is all.
    public let match: ConditionSettings?
    /// The upstream, already filled in if there is only one; none if the chain answers.
    public let upstream: String?
    /// The chain, by its name below `chains`; none is the default chain.
    public let chain: String?
    /// Where the route stands.
    @NotCompared public private(set) var mark: Mark

    static let options = [
        Option("match", .section(ConditionSettings.options), "The calls that the route takes; all if absent."),
        Option("upstream", .string, "The upstream, by name; may be absent if there is only one, or the chain answers."),
        Option("chain", .string, "The chain, by its name below chains; the chain of interceptors if absent."),
    ]

    init(match: ConditionSettings?, upstream: String?, chain: String?, mark: Mark) {
        self.match = match
        self.upstream = upstream
        self.chain = chain
        self.mark = mark
    }

    /// Reads a route; `only` is the upstream if there is only one.
    init(_ section: Section, only: String?) {
        let match = section.has("match") ? section.section("match") : nil
        if let match, match.has("code") {
            match.report(
                "no route knows how a call will end; ask for \"code\" in an interceptor's \"when\"",
                at: "code"
            )
        }
        self.init(
            match: match.map(ConditionSettings.init),
            upstream: section.string(ifGiven: "upstream") ?? only,
            chain: section.string(ifGiven: "chain"),
            mark: section.mark
        )
    }
}
