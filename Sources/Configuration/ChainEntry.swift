/// What stands in the list of a chain: an interceptor, or the name of a chain whose items stand in its place.
public enum ChainEntry {
    case item(ChainItem)
    case inclusion(MarkedString)

    /// The key of an item that stands for the items of other chains.
    public static let include = [
        Option(
            "include",
            .strings,
            required: true,
            example: "common",
            "A chain from `chains`, or a list of chains, to include at this position."
        )
    ]

    /// Reads a chain, which is a list of items, and reports what is wrong.
    static func list(_ node: Node, into diagnostics: Diagnostics) -> [ChainEntry] {
        guard case .sequence(let nodes) = node.content else {
            if case .null = node.content { return [] }
            let advice = "write a list with items such as \"- metrics: {}\""
            diagnostics.report("a chain cannot be \(node.summary); \(advice)", at: node.mark)
            return []
        }
        return nodes.flatMap { entries($0, into: diagnostics) }
    }

    private static func entries(_ node: Node, into diagnostics: Diagnostics) -> [ChainEntry] {
        var node = node
        if let kind = node.text {
            let entry = Node.Entry(key: kind, keyMark: node.mark, value: Node(.null, at: node.mark))
            node = Node(.mapping([entry]), at: node.mark)
        }
        guard let entries = node.entries else {
            let advice = "write a kind and its options, such as \"metrics: {}\""
            diagnostics.report("an interceptor cannot be \(node.summary); \(advice)", at: node.mark)
            return []
        }
        if let inclusion = entries.first(where: { $0.key == "include" }) {
            return inclusions(inclusion, among: entries, into: diagnostics)
        }
        return ChainItem(entries, at: node.mark, into: diagnostics).map { [.item($0)] } ?? []
    }

    private static func inclusions(
        _ inclusion: Node.Entry,
        among entries: [Node.Entry],
        into diagnostics: Diagnostics
    ) -> [ChainEntry] {
        for entry in entries where entry.key != inclusion.key {
            let problem = "\(Diagnostic.quote(entry.key)) cannot stand beside \"include\""
            diagnostics.report("\(problem); remove it, or write it in the included chain", at: entry.keyMark)
        }
        let section = Section(Node(.mapping([inclusion]), at: inclusion.keyMark), include, into: diagnostics)
        return section.markedStrings("include").map { .inclusion($0) }
    }
}
