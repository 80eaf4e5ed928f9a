/// One interceptor of a chain, as the file declares it.
public struct ChainItem: Equatable, Sendable {
    /// The name in metrics, logs and traces, unique in the chain: as given, else the kind, numbered from the second on.
    public let name: String
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

    /// Reads a chain, which is a list of items, and reports what is wrong.
    static func chain(_ node: Node, into diagnostics: Diagnostics) -> [ChainItem] {
        guard case .sequence(let nodes) = node.content else {
            if case .null = node.content { return [] }
            let advice = "write a list, each item like \"- metrics: {}\""
            diagnostics.report("a chain cannot be \(node.summary); \(advice)", at: node.mark)
            return []
        }
        var names: Set<String> = []
        for case let name? in nodes.map({ $0["name"] }) {
            guard let text = name.text, !names.insert(text).inserted else { continue }
            let problem = "the name \(Diagnostic.quote(text)) is taken in this chain"
            diagnostics.report("\(problem); give each interceptor its own", at: name.mark)
        }
        return nodes.compactMap { ChainItem($0, names: &names, into: diagnostics) }
    }

    private init?(_ node: Node, names: inout Set<String>, into diagnostics: Diagnostics) {
        var node = node
        if let kind = node.text {
            let entry = Node.Entry(key: kind, keyMark: node.mark, value: Node(.null, at: node.mark))
            node = Node(.mapping([entry]), at: node.mark)
        }
        guard let entries = node.entries else {
            let advice = "write its kind and options, like \"metrics: {}\""
            diagnostics.report("an interceptor cannot be \(node.summary); \(advice)", at: node.mark)
            return nil
        }
        let isCommon = { (entry: Node.Entry) in Self.commonOptions.contains { $0.key == entry.key } }
        let common = Node(.mapping(entries.filter(isCommon)), at: node.mark)
        let section = Section(common, Self.commonOptions, into: diagnostics)
        when = section.has("when") ? ConditionSettings(section.section("when")) : nil
        guard let kind = Self.kind(of: entries.filter { !isCommon($0) }, at: node.mark, into: diagnostics)
        else { return nil }
        self.kind = kind.key
        kindMark = kind.keyMark
        options = kind.value
        mark = node.mark
        name = section.string(ifGiven: "name") ?? Self.freeName(kind.key, &names)
        if section.has("name") { Name.check(name, at: section.mark(of: "name"), into: diagnostics) }
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

    private static func freeName(_ kind: String, _ names: inout Set<String>) -> String {
        if names.insert(kind).inserted { return kind }
        var number = 2
        while !names.insert("\(kind)-\(number)").inserted { number += 1 }
        return "\(kind)-\(number)"
    }
}
