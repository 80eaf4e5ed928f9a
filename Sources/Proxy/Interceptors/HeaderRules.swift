internal import Bytes
internal import Configuration
internal import HTTP
internal import Patterns

/// The rules for one head.
final class HeaderRules {
    /// A class, so that going through values holds on to one thing for each and not to three.
    private final class Value {
        let name: FieldName
        let template: Template
        let constant: [UInt8]?
        /// Where its value lies among those that were made for the call, unless it is constant.
        var made = 0..<0

        init(_ name: FieldName, _ template: Template) {
            self.name = name
            self.template = template
            constant = template.constant
        }
    }

    private struct Substitution {
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

    private let removed: [FieldName]
    private let renamed: [(from: FieldName, to: FieldName)]
    private let replaced: [Substitution]
    private let set: [Value]
    private let added: [Value]
    private let fallback: [Value]
    /// The values that depend on the call.
    private let variable: [Value]
    private let made = ByteQueue(keeping: 256)
    private let scratch = ByteQueue(keeping: 256)

    /// Compiles the rules; `prefix` goes before every name.
    init(_ section: Section, prefix: String) {
        let diagnostics = section.diagnostics
        let name = { (text: String, mark: Mark) in
            prefix.isEmpty ? HeaderName.checked(text, at: mark, into: diagnostics) : FieldName(prefix + text)
        }
        let values = { (key: String) in
            section.map(key).map { entry in
                let template = Template(entry.text, at: entry.mark, into: diagnostics)
                return Value(name(entry.name, entry.nameMark), template)
            }
        }
        removed = section.markedStrings("remove").map { name($0.text, $0.mark) }
        renamed = section.map("rename").map { (name($0.name, $0.nameMark), name($0.text, $0.mark)) }
        replaced = section.named("replace").compactMap { Self.substitution($0, name($0.name, $0.mark)) }
        set = values("set")
        added = values("add")
        fallback = values("if_absent")
        variable = (set + added + fallback).filter { $0.constant == nil }
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

    /// Changes the head.
    func apply(to head: HTTPHead, for call: Call) {
        // Before anything changes: templates may name what does.
        if !variable.isEmpty { makeValues(for: call) }
        // To go through an empty array costs more than to ask whether it is: most rules are of one sort.
        if !removed.isEmpty { for name in removed { head.remove(name) } }
        if !renamed.isEmpty { for (from, to) in renamed { rename(from, to, in: head) } }
        if !replaced.isEmpty { for substitution in replaced { replace(substitution, in: head) } }
        if !set.isEmpty { for value in set { withValue(value) { head.set(value.name, $0) } } }
        if !fallback.isEmpty { addAbsent(to: head) }
        if !added.isEmpty { for value in added { withValue(value) { head.add(value.name, $0) } } }
        if !variable.isEmpty { made.removeAll() }
    }

    private func makeValues(for call: Call) {
        let made = made
        for value in variable {
            let start = made.count
            value.template.render(for: call, to: made)
            value.made = start..<made.count
        }
    }

    private func addAbsent(to head: HTTPHead) {
        for value in fallback where head.first(value.name) == nil {
            withValue(value) { head.add(value.name, $0) }
        }
    }

    private func rename(_ from: FieldName, _ to: FieldName, in head: HTTPHead) {
        // Not from the start again: the new name may be the old one.
        var index = head.first(from)
        while let found = index {
            head.rename(at: found, to: to)
            index = head.first(from, from: found + 1)
        }
    }

    private func replace(_ rule: Substitution, in head: HTTPHead) {
        let scratch = scratch
        var index = head.first(rule.name)
        while let found = index {
            if rule.pattern.replaceAll(in: head.value(at: found), with: rule.replacement, into: scratch) {
                head.setValue(at: found, scratch.readable)
            }
            scratch.removeAll()
            index = head.first(rule.name, from: found + 1)
        }
    }

    private func withValue(_ value: Value, _ use: (Span<UInt8>) -> Void) {
        if let constant = value.constant { return use(constant.span) }
        let made = made
        use(made.readable.extracting(value.made))
    }
}
