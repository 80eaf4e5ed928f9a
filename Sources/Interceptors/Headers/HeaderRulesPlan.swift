internal import Configuration
internal import HTTP
internal import Patterns
internal import Proxy

/// The rules for one head, as the configuration has them.
struct HeaderRulesPlan: Sendable {
    /// A field to set or to add.
    struct Field: Sendable {
        let name: FieldName
        let value: Template
    }

    /// A field whose values change by a pattern.
    struct Substitution: Sendable {
        let name: FieldName
        let pattern: Pattern
        let replacement: Replacement
    }

    static let options = [
        Option("set", .map, "Headers to set. A header that exists is replaced."),
        Option("add", .map, "Headers to add. A header that exists is kept."),
        Option("if_absent", .map, "Headers to set if they are missing."),
        Option("remove", .strings, "Headers to remove."),
        Option("rename", .map, "Headers to rename."),
        Option("replace", .named(replaceOptions), "Headers to change with a regular expression."),
    ]

    private static let replaceOptions = [
        Option("pattern", .string, required: true, example: "^v1\\.(.*)$", "The regular expression (PCRE2)."),
        Option(
            "with",
            .string,
            required: true,
            example: "v2.$1",
            "The replacement of a match. `$1` is the first group."
        ),
    ]

    let removed: [FieldName]
    let renamed: [(from: FieldName, to: FieldName)]
    let replaced: [Substitution]
    let set: [Field]
    let added: [Field]
    let fallback: [Field]

    /// Compiles the rules; `prefix` goes before every name.
    init(_ section: Section, prefix: String) {
        let diagnostics = section.diagnostics
        let name = { (text: String, mark: Mark) in
            prefix.isEmpty ? HeaderName.checked(text, at: mark, into: diagnostics) : FieldName(prefix + text)
        }
        let values = { (key: String) in
            section.map(key).map { entry in
                let template = Template(entry.text, at: entry.mark, into: diagnostics)
                return Field(name: name(entry.name, entry.nameMark), value: template)
            }
        }
        removed = section.markedStrings("remove").map { name($0.text, $0.mark) }
        renamed = section.map("rename").map { (name($0.name, $0.nameMark), name($0.text, $0.mark)) }
        replaced = section.named("replace").compactMap { Self.substitution($0, name($0.name, $0.mark)) }
        set = values("set")
        added = values("add")
        fallback = values("if_absent")
        let isEmpty = removed.isEmpty && renamed.isEmpty && set.isEmpty && added.isEmpty && fallback.isEmpty
        // A rule that is wrong is no rule, and was reported.
        guard isEmpty, section.named("replace").isEmpty, prefix.isEmpty else { return }
        let advice = "add \"set\", \"add\", \"if_absent\", \"remove\", \"rename\" or \"replace\""
        diagnostics.report("the rules change nothing; \(advice)", at: section.mark)
    }

    private static func substitution(_ rule: NamedSection, _ name: FieldName) -> Substitution? {
        let section = rule.section
        guard section.has("pattern"), section.has("with") else { return nil }
        HeaderValue.check(section.string("with"), at: section.mark(of: "with"), into: section.diagnostics)
        var key = "pattern"
        do throws(PatternError) {
            let pattern = try Pattern(section.string("pattern"))
            key = "with"
            let replacement = try Replacement(section.string("with"), for: pattern)
            return Substitution(name: name, pattern: pattern, replacement: replacement)
        } catch {
            section.report("\(error)", at: key)
            return nil
        }
    }
}
