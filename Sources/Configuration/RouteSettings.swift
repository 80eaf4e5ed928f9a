/// One route: which calls it takes, and what becomes of them.
public struct RouteSettings: Equatable, Sendable {
    /// The name in metrics and logs, unique in the file; nil leaves the number of the route, from 0.
    public let name: MarkedString?
    /// The calls that the route takes; none is all.
    public let match: ConditionSettings?
    /// The upstream, already filled in if there is only one; none if the chain responds.
    public let upstream: String?
    /// The chain, by its name below `chains`; none is the default chain.
    public let chain: String?
    /// Where the route stands.
    @NotCompared public private(set) var mark: Mark

    static let options = [
        Option(
            "name",
            .string,
            example: "users",
            "The name of the route in metrics and logs. The default is its index in the list, from 0."
        ),
        Option(
            "match",
            .section(ConditionSettings.options),
            "The calls that the route applies to. The default is all calls."
        ),
        Option(
            "upstream",
            .string,
            "The name of the upstream. It may be missing if there is only one upstream, or if the chain responds."
        ),
        Option(
            "chain",
            .string,
            shape: .either([.value(.string), .chain]),
            "The name of a chain in `chains`, or a chain of its own. The default is the chain in `interceptors`."
        ),
    ]

    init(name: MarkedString? = nil, match: ConditionSettings?, upstream: String?, chain: String?, mark: Mark) {
        self.name = name
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
                """
                \"code\" has no effect in a route, which is chosen before the call ends; write it in the \"when\" of \
                an interceptor
                """,
                at: "code"
            )
        }
        self.init(
            name: section.marked("name"),
            match: match.map(ConditionSettings.init),
            upstream: section.string(ifGiven: "upstream") ?? only,
            chain: section.string(ifGiven: "chain"),
            mark: section.mark
        )
    }

    /// What is wrong with a name and what to write instead; nil for a good one.
    ///
    /// A name shares its label in the metrics with the numbers of routes, and with `none` for calls that no route takes.
    static func problem(withName name: String) -> String? {
        let isWord = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
            case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): true
            default: false
            }
        }
        guard isWord, 1...64 ~= name.utf8.count else {
            return "is not a valid route name; use at most 64 lower-case letters, digits, \"-\", \"_\" and \".\""
        }
        if name == "none" { return "means calls without a route; choose another name" }
        let isNumber = name.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        return isNumber ? "is a number, which means a route without a name; add a letter" : nil
    }
}
