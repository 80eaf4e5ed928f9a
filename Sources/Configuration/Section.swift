/// A mapping of the file, read by the table of its options.
///
/// Making a section checks the whole mapping, what is nested in it included, and reports every unknown key, wrong
/// value, missing key and broken exactly-one-of group. Asking it for values afterwards reports nothing and always gives
/// one: the value given, else (absent, or wrong and reported) the default of the table, else an empty one.
///
/// ```swift
/// let section = Section(item.options, Self.options, into: diagnostics)
/// let header = section.string("header")
/// if !isFieldName(header) { section.report("\"header\" is no header name; write authorization", at: "header") }
/// ```
///
/// Asking for a key that the table lacks, or for another type than the table states, is a mistake in the program and
/// stops it.
public struct Section {
    /// Where the mapping starts.
    public let mark: Mark
    /// The errors of the file.
    public let diagnostics: Diagnostics
    let options: [Option]
    let given: [String: Node.Entry]
    private let values: [String: OptionValue]

    /// Reads `node` by `options` and reports what is wrong.
    ///
    /// - Parameters:
    ///   - node: a mapping; an empty value counts as an empty mapping.
    ///   - options: the table.
    ///   - shorthand: the option that a scalar in place of the mapping stands for.
    ///   - diagnostics: where errors go.
    public init(_ node: Node, _ options: [Option], shorthand: String? = nil, into diagnostics: Diagnostics) {
        var entries = node.entries ?? []
        if case .scalar = node.content, let shorthand {
            entries = [Node.Entry(key: shorthand, keyMark: node.mark, value: node)]
        } else if node.entries == nil {
            let known = options.map(\.key).joined(separator: ", ")
            diagnostics.report("a mapping is required here, not \(node.shape); its keys are \(known)", at: node.mark)
        }
        self.init(entries, of: options, at: node.mark, into: diagnostics)
        if node.entries != nil || !entries.isEmpty { reportMissing() }
    }

    /// The section that stands where none is given: all defaults, and nothing missing.
    init(absent options: [Option], at mark: Mark, into diagnostics: Diagnostics) {
        self.init([], of: options, at: mark, into: diagnostics)
    }

    private init(_ entries: [Node.Entry], of options: [Option], at mark: Mark, into diagnostics: Diagnostics) {
        self.mark = mark
        self.options = options
        self.diagnostics = diagnostics
        given = Dictionary(entries.map { ($0.key, $0) }) { first, _ in first }
        var values: [String: OptionValue] = [:]
        for entry in entries where !options.contains(where: { $0.key == entry.key }) {
            let suggestion = Suggestion.text(for: entry.key, among: options.map(\.key))
            diagnostics.report("unknown key \(Diagnostic.quote(entry.key)); \(suggestion)", at: entry.keyMark)
        }
        for option in options {
            let value = given[option.key].flatMap { option.decode($0, into: diagnostics) }
            if let entry = given[option.key] {
                for need in option.needs(of: value, at: entry.value.mark) { diagnostics.note(need) }
            }
            values[option.key] = value ?? option.defaultValue(at: mark)
        }
        self.values = values
    }

    /// Whether the table has `key`.
    func knows(_ key: String) -> Bool {
        options.contains { $0.key == key }
    }

    /// Whether the file gives `key`, rightly or wrongly.
    public func has(_ key: String) -> Bool {
        given[key] != nil
    }

    /// Where the value of `key` stands; where the mapping starts if the key is not given.
    public func mark(of key: String) -> Mark {
        given[key]?.value.mark ?? mark
    }

    /// Reports an error about the value of `key`.
    public func report(_ message: String, at key: String) {
        diagnostics.report(message, at: mark(of: key))
    }

    /// The value of `key`; none if it is neither given nor has a default.
    func value(_ key: String) -> OptionValue? {
        precondition(options.contains { $0.key == key }, "the table has no option \(key)")
        return values[key]
    }

    private func reportMissing() {
        for option in options where option.isRequired && !has(option.key) {
            diagnostics.report("\(Diagnostic.quote(option.key)) is missing; add \(option.expected)", at: mark)
        }
        for group in options.groups {
            let members = group.map(\.key)
            let present = members.filter(has)
            guard present.count != 1 else { continue }
            let names = members.map(Diagnostic.quote).joined(separator: " or ")
            let position = present.count < 2 ? mark : given[present[1]]?.keyMark ?? mark
            let problem =
                present.isEmpty
                ? "\(names) is missing"
                : present.map(Diagnostic.quote).joined(separator: " and ") + " cannot be set together"
            diagnostics.report("\(problem); write exactly one of them", at: position)
        }
    }
}
