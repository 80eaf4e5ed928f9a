/// The parameters of a form as YAML values: a list is one parameter for each item, and `true` and `false` are written
/// as the server wants them.
enum URLEncodedSettings {
    private enum Bools: String, CaseIterable {
        case numbers, literals
    }

    private enum Arrays: String, CaseIterable {
        case brackets, plain
    }

    static let options = [
        Option(
            "values",
            .node,
            shape: .named(.value(.strings)),
            required: true,
            "The parameters by name. A value is a single value or a list. Strings are templates."
        ),
        Option(
            "bools",
            .choice(Bools.allCases.map(\.rawValue)),
            default: Bools.numbers.rawValue,
            "How to write an unquoted `true` or `false`: as `1` and `0`, or as it stands."
        ),
        Option(
            "arrays",
            .choice(Arrays.allCases.map(\.rawValue)),
            default: Arrays.brackets.rawValue,
            "How to name the parameters of a list: `name[]`, with escaped brackets, or `name`."
        ),
    ]

    /// The parameters in the order of the file; what is no value for one is reported.
    static func read(_ section: Section) -> [NamedString] {
        guard let node = section.node("values") else { return [] }
        guard let entries = node.entries else {
            let problem = "\"values\" cannot be \(node.shape)"
            section.report("\(problem); write a mapping of names to values", at: "values")
            return []
        }
        let bools = Bools(rawValue: section.string("bools")) ?? .numbers
        let suffix = section.string("arrays") == Arrays.brackets.rawValue ? "[]" : ""
        return entries.flatMap { entry in
            guard case .sequence(let items) = entry.value.content else {
                return [parameter(entry, entry.key, entry.value, bools, section)].compactMap { $0 }
            }
            return items.compactMap { parameter(entry, entry.key + suffix, $0, bools, section) }
        }
    }

    private static func parameter(
        _ entry: Node.Entry,
        _ name: String,
        _ node: Node,
        _ bools: Bools,
        _ section: Section
    ) -> NamedString? {
        guard case .scalar(var text, let isQuoted) = node.content else {
            var advice = "write a single value or a list of them"
            if case .null = node.content { advice = "write \"\" for an empty value" }
            let problem = "\(Diagnostic.quote(entry.key)) cannot be \(node.shape)"
            section.diagnostics.report("\(problem); \(advice)", at: node.mark)
            return nil
        }
        if !isQuoted, bools == .numbers {
            if text == "true" { text = "1" } else if text == "false" { text = "0" }
        }
        return NamedString(name: name, nameMark: entry.keyMark, text: text, mark: node.mark)
    }
}
