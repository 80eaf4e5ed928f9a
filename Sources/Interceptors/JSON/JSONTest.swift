internal import Bytes
public import Configuration
public import Documents
public import Patterns
public import Proxy

/// What a value in JSON must be.
public indirect enum JSONTest: Sendable {
    /// There is a value.
    case present
    /// There is none.
    case absent
    /// It is this value.
    case value(JSONValue)
    /// There is a value, and it is not like this.
    case not(JSONTest)
    /// One of these.
    case any([JSONTest])
    /// All of these.
    case all([JSONTest])
    /// Text that some part of matches.
    case pattern(Pattern)
    /// What has all of this in it: an object these members, a list these items in any order, a text this part.
    ///
    /// Members and items within it are equal to these, or have all of them.
    case contains(JSONValue)
    /// So many items, members or characters.
    case length(Int)
    /// A larger number.
    case above(Double)
    /// A smaller number.
    case below(Double)

    /// Reads a test: a value stands for itself; what is wrong is reported.
    ///
    /// - Parameters:
    ///   - node: the test.
    ///   - ofText: whether what is tested is always text, so that `7` means the text.
    ///   - diagnostics: what is told of what is wrong.
    public init(_ node: Node, ofText: Bool = false, into diagnostics: Diagnostics) {
        switch node.content {
        case .scalar("present", quoted: false): self = .present
        case .scalar("absent", quoted: false): self = .absent
        case .scalar(let text, _) where ofText: self = .value(.string(text))
        case .sequence(let items) where ofText:
            self = .any(items.map { JSONTest($0, ofText: true, into: diagnostics) })
        case .mapping(let members) where Self.areOperations(members, ofText, into: diagnostics):
            let tests = members.map { Self.operation($0, ofText, into: diagnostics) }
            self = tests.count == 1 ? tests[0] : .all(tests)
        default: self = .value(Self.value(node))
        }
    }

    private static let names = ["equals", "not", "any", "regex", "contains", "length", "above", "below"]

    /// Whether a mapping is conditions, and no value; one that may be meant as either is reported.
    private static func areOperations(
        _ members: [Node.Entry],
        _ ofText: Bool,
        into diagnostics: Diagnostics
    ) -> Bool {
        let others = members.filter { !names.contains($0.key) }
        guard let other = others.first else { return !members.isEmpty }
        let guess = Suggestion.nearest(to: other.key, among: names)
        guard ofText || others.count < members.count || members.count == 1 && guess != nil else { return false }
        let value = ofText ? "" : "; write { equals: … } for a value"
        let advice =
            guess.map { "did you mean \(Diagnostic.quote($0))?" } ?? "known are \(names.joined(separator: ", "))"
        diagnostics.report("unknown condition \(Diagnostic.quote(other.key)); \(advice)\(value)", at: other.keyMark)
        return false
    }

    private static func operation(_ member: Node.Entry, _ ofText: Bool, into diagnostics: Diagnostics) -> JSONTest {
        let node = member.value
        /// A condition without a sense.
        func wrong(_ advice: String) -> JSONTest {
            diagnostics.report("\"\(member.key)\" cannot be \(node.summary); write \(advice)", at: node.mark)
            return .absent
        }
        switch member.key {
        case "equals": return .value(operand(node, ofText))
        case "contains": return .contains(operand(node, ofText))
        case "not": return .not(JSONTest(node, ofText: ofText, into: diagnostics))
        case "any":
            guard case .sequence(let items) = node.content, !items.isEmpty else { return wrong("a list") }
            return .any(items.map { JSONTest($0, ofText: ofText, into: diagnostics) })
        case "regex":
            guard case .scalar(let text, _) = node.content else { return wrong("a regular expression") }
            do throws(PatternError) {
                return .pattern(try Pattern(text))
            } catch {
                diagnostics.report("\(error)", at: node.mark)
                return .absent
            }
        case "length":
            let count = number(node).flatMap { Int(exactly: $0) }.flatMap { $0 >= 0 ? $0 : nil }
            return count.map { .length($0) } ?? wrong("a count such as 2")
        case "above": return number(node).map { .above($0) } ?? wrong("a number")
        default: return number(node).map { .below($0) } ?? wrong("a number")
        }
    }

    private static func operand(_ node: Node, _ ofText: Bool) -> JSONValue {
        if ofText, case .scalar(let text, _) = node.content { return .string(text) }
        return value(node)
    }

    /// What a node writes is JSON, so there is a value.
    private static func value(_ node: Node) -> JSONValue { (try? JSON.parse(node.json)) ?? .null }

    private static func number(_ node: Node) -> Double? {
        guard case .scalar(let text, _) = node.content else { return nil }
        return Double(text).flatMap { $0.isFinite ? $0 : nil }
    }

    /// Whether a value of no type is as it must be; nil if no value is there.
    public func holds(for found: JSONValue?) -> Bool { holds(forPart: found.map { MessagePart($0) }) }

    /// Whether a part of a message is as it must be; nil if no value is there.
    ///
    /// Integers may be in quotes on one side, as 64-bit integers are in ProtoJSON. A field without presence that is not set is
    /// absent, and has its default value for every other test.
    public func holds(forPart found: MessagePart?) -> Bool {
        guard let found else {
            switch self {
            case .absent: return true
            case .any(let tests): return tests.contains { $0.holds(forPart: nil) }
            case .all(let tests): return tests.allSatisfy { $0.holds(forPart: nil) }
            default: return false
            }
        }
        return switch self {
        case .present: !found.isUnset
        case .absent: found.isUnset
        case .value(let expected): found.isWorth(expected)
        case .not(let test): !test.holds(forPart: found)
        case .any(let tests): tests.contains { $0.holds(forPart: found) }
        case .all(let tests): tests.allSatisfy { $0.holds(forPart: found) }
        case .pattern(let pattern): Self.matches(found.json, pattern)
        case .contains(let part): found.contains(part)
        case .length(let count): found.json.length == count
        case .above(let bound): found.json.double.map { $0 > bound } ?? false
        case .below(let bound): found.json.double.map { $0 < bound } ?? false
        }
    }

    private static func matches(_ found: JSONValue, _ pattern: Pattern) -> Bool {
        guard case .string(let text) = found else { return false }
        let bytes = Array(text.utf8)
        return pattern.matches(bytes.span)
    }
}

extension MessagePart {
    /// Whether the value has all of `part`: an object its members, a list its items, a text its characters.
    ///
    /// Members and items are equal to those of `part`, or contain them. Only at the top a part of a text is enough, and one
    /// item stands for a list of it.
    fileprivate func contains(_ part: JSONValue) -> Bool {
        switch (json, part) {
        case (.string(let text), .string(let part)): part.isEmpty || !text.utf8.ranges(of: Array(part.utf8)).isEmpty
        case (.array(let items), _) where !part.isArray: items.contains { item($0).includes(part) }
        default: includes(part)
        }
    }

    /// Whether the value is equal to `part`, or has its members or items, each equal or with all of it.
    private func includes(_ part: JSONValue) -> Bool {
        switch (json, part) {
        case (.object, .object(let members)):
            members.allSatisfy { member in child(member.name)?.includes(member.value) ?? false }
        case (.array(let items), .array(let parts)):
            parts.allSatisfy { part in items.contains { item($0).includes(part) } }
        default: json.isWorth(part)
        }
    }
}

extension JSONValue {
    fileprivate var isArray: Bool { if case .array = self { true } else { false } }

    fileprivate var length: Int? {
        switch self {
        case .string(let text): text.unicodeScalars.count
        case .array(let items): items.count
        case .object(let members): members.count
        default: nil
        }
    }

    /// The number, also that of a text, as 64-bit integers are in ProtoJSON.
    fileprivate var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number, .string: Double(String(decoding: bytes, as: UTF8.self).filter { $0 != "\"" })
        default: nil
        }
    }
}
