/// One interceptor of a chain, as the file declares it.
public struct ChainItem: Equatable, Sendable {
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
    /// The options of the kind, to be read by the kind's own table.
    public let options: Node
    /// Where the item stands.
    @NotCompared public private(set) var mark: Mark

    /// The keys that an item has beside its kind.
    public static let commonOptions = [
        Option("name", .string, "The name of the interceptor in metrics and logs; its kind if absent."),
        Option(
            "when",
            .section(ConditionSettings.options),
            "The calls that the interceptor takes part in; all if absent."
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

    private static func kind(of entries: [Node.Entry], at mark: Mark, into diagnostics: Diagnostics) -> Node.Entry? {
        guard let first = entries.first else {
            diagnostics.report("an interceptor without a kind; add for example \"metrics: {}\"", at: mark)
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
        let problem = "an interceptor has one kind, and here are \(kinds)"
        diagnostics.report("\(problem); start another item with \"- \", or indent its options", at: entries[1].keyMark)
        return nil
    }
}
