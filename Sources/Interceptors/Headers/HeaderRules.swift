internal import Bytes
internal import HTTP
internal import Patterns
internal import Proxy

/// The rules for one head, as one worker applies them.
///
/// It has its own copies of what every call needs, so that the workers' threads do not change the same counts of references.
final class HeaderRules {
    /// A class, so that going through values holds on to one thing for each and not to three.
    private final class Value {
        let name: FieldName
        let template: Template
        let constant: [UInt8]?
        /// Where its value lies among those that were made for the call, unless it is constant.
        var made = 0..<0

        init(_ field: HeaderRulesPlan.Field) {
            name = field.name.copy
            template = field.value.copy
            constant = template.constant
        }
    }

    private let removed: [FieldName]
    private let renamed: [(from: FieldName, to: FieldName)]
    private let replaced: [HeaderRulesPlan.Substitution]
    private let set: [Value]
    private let added: [Value]
    private let fallback: [Value]
    /// The values that depend on the call.
    private let variable: [Value]
    private let made = ByteQueue(keeping: 256)
    private let scratch = ByteQueue(keeping: 256)

    /// Makes the rules of a worker.
    init(_ plan: HeaderRulesPlan) {
        removed = plan.removed.map(\.copy)
        renamed = plan.renamed.map { ($0.from.copy, $0.to.copy) }
        replaced = plan.replaced
        set = plan.set.map(Value.init)
        added = plan.added.map(Value.init)
        fallback = plan.fallback.map(Value.init)
        variable = (set + added + fallback).filter { $0.constant == nil }
    }

    /// Changes the head.
    func apply(to head: HTTPHead, for call: Call) {
        // Before anything changes: templates may name what does.
        if !variable.isEmpty { makeValues(for: call) }
        // To go through an empty array costs more than to ask whether it is: most rules are of one sort.
        if !removed.isEmpty { for name in removed { head.remove(name) } }
        if !renamed.isEmpty { for (from, to) in renamed { rename(from, to, in: head) } }
        if !replaced.isEmpty { for substitution in replaced { replace(substitution, in: head) } }
        if !set.isEmpty { for value in set { assign(value, in: head) } }
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

    private func replace(_ rule: HeaderRulesPlan.Substitution, in head: HTTPHead) {
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

    private func assign(_ value: Value, in head: HTTPHead) {
        if let constant = value.constant { return head.set(value.name, configured: constant.span) }
        withValue(value) { head.set(value.name, $0) }
    }

    private func withValue(_ value: Value, _ use: (Span<UInt8>) -> Void) {
        if let constant = value.constant { return use(constant.span) }
        let made = made
        use(made.readable.extracting(value.made))
    }
}
