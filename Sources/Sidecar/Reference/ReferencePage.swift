internal import Configuration
internal import Proxy

/// The reference page in Markdown: every key of the file, every kind of interceptor and every command, made from the tables
/// of options and of commands.
struct ReferencePage {
    /// The page, but for its last line end.
    private(set) var text = """
        # Reference

        This page lists every key of the configuration file, every kind of interceptor and every command. `martlet reference` prints it.
        `martlet schema` prints the same keys as a JSON Schema, for editors. If the default is “one of” several options, set exactly one of
        them.

        Write a duration as `100us`, `250ms`, `2s`, `5m` or `1h`, or `none` for no limit. Write a size as `512B`, `64KiB`, `4MiB` or `1GiB`, or
        as plain digits. A string is any single value, even one that looks like a number.
        """
    /// The tables that have a place on the page, each with its heading.
    private var headings: [(table: [Option], heading: String)] = []

    /// Writes the page for a program that knows the kinds of `registry`.
    init(for registry: Registry) {
        paragraph("## The file")
        table(Settings.options, below: nil)
        paragraph("## Interceptors")
        paragraph(
            """
            A request passes the chain from first to last, a response from last to first. Each item of a chain has one kind as its \
            key and the options of the kind as its value. The name of the kind alone means no options. Besides the kind, an item \
            may have:
            """
        )
        table(ChainItem.commonOptions, below: nil)
        paragraph("An item without a kind includes the items of other chains at its position:")
        table(ChainEntry.include, below: nil)
        registry.kinds.forEach { describe($0) }
        CommandSections.paragraphs.forEach { paragraph($0) }
    }

    private mutating func describe(_ kind: InterceptorKind) {
        paragraph("### `\(kind.name)`")
        paragraph("\(kind.summary) \(kind.facts)")
        if kind.options.isEmpty { paragraph("It has no options.") } else { table(kind.options, below: kind.name) }
    }

    /// Writes a table, and behind it those of the mappings in it that are not on the page yet.
    private mutating func table(_ options: [Option], below heading: String?) {
        let before = headings.count
        var lines = ["| option | type | default | meaning |", "|---|---|---|---|"]
        for option in options {
            let path = heading.map { "\($0).\(option.key)" } ?? option.key
            let heading = option.shape.table.map { self.heading(of: $0, path) }
            let type = option.shape.words(heading.map(Self.anchor) ?? "")
            let cells = ["`\(option.key)`", type, option.presence(in: options), option.meaning]
            lines.append("| " + cells.map(Self.escaped).joined(separator: " | ") + " |")
        }
        paragraph(lines.joined(separator: "\n"))
        for heading in headings[before...] {
            paragraph("### `\(heading.heading)`")
            table(heading.table, below: heading.heading)
        }
    }

    private mutating func heading(of table: [Option], _ heading: String) -> String {
        if let heading = headings.first(where: { $0.table == table }) { return heading.heading }
        headings.append((table, heading))
        return heading
    }

    private mutating func paragraph(_ paragraph: String) {
        text += "\n\n\(paragraph)"
    }

    /// What a heading is linked to by: its letters, digits and underscores.
    private static func anchor(_ heading: String) -> String {
        heading.lowercased().filter { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }
    }

    private static func escaped(_ cell: String) -> String {
        cell.split(separator: "|", omittingEmptySubsequences: false).joined(separator: "\\|")
    }
}

extension Option {
    /// What stands where the option is not given.
    fileprivate func presence(in table: [Option]) -> String {
        if isRequired { return "required" }
        if let fallback { return fallback.isEmpty ? "empty" : "`\(fallback)`" }
        guard let group = table.groups.first(where: { $0.contains(self) }) else { return "" }
        return "one of " + group.map { "`\($0.key)`" }.joined(separator: ", ")
    }

    fileprivate var meaning: String {
        example.map { "\(documentation) Example: `\($0)`" } ?? documentation
    }
}

extension InterceptorKind {
    /// What the kind says of itself beside its options, in sentences.
    fileprivate var facts: String {
        var facts = isPerAttempt ? "It runs for each attempt of a call" : "It runs once for each call"
        if rewrites, !isPerAttempt { facts += ". It runs again for each retry that starts before it in the chain" }
        if responds { facts += ". A route with it needs no upstream" }
        return facts + "."
    }
}
