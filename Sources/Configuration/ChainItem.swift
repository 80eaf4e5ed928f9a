/// One interceptor of a chain, as the file declares it.
public struct ChainItem: Equatable, Sendable {
    /// How often an interceptor runs.
    public enum Per: String, CaseIterable, Sendable {
        /// Once.
        case call
        /// Again for each attempt, on a fresh copy of the head.
        case attempt
    }

    /// The name in metrics, logs and traces, unique in the chain: as given, else the kind, numbered from the second on.
    public private(set) var name: String
    /// The name, if the file gives one.
    @NotCompared private(set) var givenName: MarkedString?
    /// The kind, such as `token`; whether there is one of this name is for the registry of kinds to say.
    public let kind: String
    /// Where the kind is named.
    @NotCompared public private(set) var kindMark: Mark
    /// When the interceptor takes part in a call; none is always.
    public let when: ConditionSettings?
    /// The shapes of the calls that it takes part in.
    public let applies: CallShapes
    /// How often it runs; none is as its kind has it.
    public let per: Per?
    /// Whether what it rejects goes back through the interceptors before it.
    public let unwinds: Bool
    /// The options of the kind, to be read by the kind's own table.
    public let options: Node
    /// Where the item stands.
    @NotCompared public private(set) var mark: Mark

    /// The keys that an item has beside its kind.
    public static let commonOptions = [
        Option(
            "name",
            .string,
            """
            The name of the interceptor in metrics and logs: at most 64 letters, digits, `-`, `_` and `.`. The \
            default is its kind.
            """
        ),
        Option(
            "when",
            .section(ConditionSettings.options),
            "The calls that the interceptor applies to. The default is all calls."
        ),
        Option(
            "applies",
            .choices(CallShapes.words),
            """
            The shapes of the calls that the interceptor applies to. Every gRPC call counts as `stream`, and \
            plain HTTP as `unary`. The default is both.
            """
        ),
        Option(
            "per",
            .choice(Per.allCases.map(\.rawValue)),
            "Runs the interceptor once for each call, or once for each attempt."
        ),
        Option(
            "unwind",
            .bool,
            default: "false",
            """
            If this interceptor rejects a request, the interceptors before it see the rejection like a response \
            of the upstream.
            """
        ),
    ]

    /// Reads the keys of an item and reports what is wrong.
    init?(_ entries: [Node.Entry], at mark: Mark, into diagnostics: Diagnostics) {
        let isCommon = { (entry: Node.Entry) in Self.commonOptions.contains { $0.key == entry.key } }
        let section = Section(
            Node(.mapping(entries.filter(isCommon)), at: mark),
            Self.commonOptions,
            into: diagnostics
        )
        when = section.has("when") ? ConditionSettings(section.section("when")) : nil
        applies = Self.shapes(section)
        per = section.string(ifGiven: "per").flatMap(Per.init)
        unwinds = section.bool("unwind")
        let given = section.marked("name")
        if let given { Name.check(given.text, at: given.mark, into: diagnostics) }
        guard let kind = Self.kind(of: entries.filter { !isCommon($0) }, at: mark, into: diagnostics) else {
            return nil
        }
        name = given?.text ?? kind.key
        givenName = given
        self.kind = kind.key
        kindMark = kind.keyMark
        options = kind.value
        self.mark = mark
    }

    /// The item under a name of its chain's choice.
    func named(_ name: String) -> ChainItem {
        var item = self
        item.name = name
        return item
    }

    private static func shapes(_ section: Section) -> CallShapes {
        guard section.has("applies") else { return .all }
        section.reportIfEmpty("applies", write: "unary or stream")
        return CallShapes(words: section.strings("applies"))
    }

    private static func kind(of entries: [Node.Entry], at mark: Mark, into diagnostics: Diagnostics) -> Node.Entry? {
        guard let first = entries.first else {
            diagnostics.report("an interceptor needs a kind; add for example \"metrics: {}\"", at: mark)
            return nil
        }
        guard entries.count > 1 else { return first }
        for entry in entries {
            guard let meant = Suggestion.nearest(to: entry.key, among: commonOptions.map(\.key)) else { continue }
            let problem = "unknown key \(Diagnostic.quote(entry.key))"
            diagnostics.report("\(problem); did you mean \(Diagnostic.quote(meant))?", at: entry.keyMark)
            return nil
        }
        let kinds = entries.map { Diagnostic.quote($0.key) }.joined(separator: " and ")
        let problem = "an interceptor can have only one kind, not \(kinds)"
        diagnostics.report("\(problem); start a new item with \"- \", or indent the options", at: entries[1].keyMark)
        return nil
    }
}
