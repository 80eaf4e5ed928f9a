internal import Bytes
public import Configuration
public import Documents
public import Patterns

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
    /// Text that some part of matches.
    case pattern(Pattern)
    /// What has all of this in it: an object these members, a list these items in any order, a text this part.
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
        case .mapping(let members) where members.count == 1:
            self = Self.operation(members[0], ofText, into: diagnostics) ?? .value(Self.value(node))
        default: self = .value(Self.value(node))
        }
    }

    private static func operation(_ member: Node.Entry, _ ofText: Bool, into diagnostics: Diagnostics) -> JSONTest? {
        let node = member.value
        switch member.key {
        case "equals":
            if ofText, case .scalar(let text, _) = node.content { return .value(.string(text)) }
            return .value(value(node))
        case "not": return .not(JSONTest(node, ofText: ofText, into: diagnostics))
        case "any":
            guard case .sequence(let items) = node.content else { return nil }
            return .any(items.map { JSONTest($0, ofText: ofText, into: diagnostics) })
        case "regex":
            guard case .scalar(let text, _) = node.content else { return nil }
            do throws(PatternError) {
                return .pattern(try Pattern(text))
            } catch {
                diagnostics.report("\(error)", at: node.mark)
                return .absent
            }
        case "contains":
            if ofText, case .scalar(let text, _) = node.content { return .contains(.string(text)) }
            return .contains(value(node))
        case "length": return number(node).flatMap { Int(exactly: $0) }.map { .length($0) }
        case "above": return number(node).map { .above($0) }
        case "below": return number(node).map { .below($0) }
        default:
            guard ofText else { return nil }
            let known = ["equals", "not", "any", "regex", "contains", "length", "above", "below"]
            let advice = Suggestion.text(for: member.key, among: known)
            diagnostics.report("unknown condition \(Diagnostic.quote(member.key)); \(advice)", at: member.keyMark)
            return .absent
        }
    }

    /// What a node writes is JSON, so there is a value.
    private static func value(_ node: Node) -> JSONValue { (try? JSON.parse(node.json)) ?? .null }

    private static func number(_ node: Node) -> Double? {
        guard case .scalar(let text, _) = node.content else { return nil }
        return Double(text)
    }

    /// Whether a value is as it must be; none is there if `found` is none.
    public func holds(for found: JSONValue?) -> Bool {
        guard let found else {
            switch self {
            case .absent: return true
            case .any(let tests): return tests.contains { $0.holds(for: nil) }
            default: return false
            }
        }
        return switch self {
        case .present: true
        case .absent: false
        case .value(let expected): found == expected
        case .not(let test): !test.holds(for: found)
        case .any(let tests): tests.contains { $0.holds(for: found) }
        case .pattern(let pattern): Self.matches(found, pattern)
        case .contains(let part): found.contains(part)
        case .length(let count): found.length == count
        case .above(let bound): found.double.map { $0 > bound } ?? false
        case .below(let bound): found.double.map { $0 < bound } ?? false
        }
    }

    private static func matches(_ found: JSONValue, _ pattern: Pattern) -> Bool {
        guard case .string(let text) = found else { return false }
        let bytes = Array(text.utf8)
        return pattern.matches(bytes.span)
    }
}

extension JSONValue {
    /// Whether all of `part` is in it.
    fileprivate func contains(_ part: JSONValue) -> Bool {
        switch (self, part) {
        case (.object, .object(let members)):
            members.allSatisfy { member in self[member.name]?.contains(member.value) ?? false }
        case (.array(let items), .array(let parts)): parts.allSatisfy { part in items.contains { $0.contains(part) } }
        case (.array(let items), _): items.contains { $0.contains(part) }
        case (.string(let text), .string(let part)): part.isEmpty || !text.utf8.ranges(of: Array(part.utf8)).isEmpty
        default: self == part
        }
    }

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
