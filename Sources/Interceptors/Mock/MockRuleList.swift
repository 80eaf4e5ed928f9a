internal import Bytes
internal import Documents

/// The rules that a call may be for, in their order; those that ask for different values in one place are found by the value.
struct MockRuleList: Sendable {
    /// Rules that follow each other.
    private enum Part: Sendable {
        case rules([Int])
        /// Rules of which each asks for another value in the same place of the first message, and for no head.
        case table(JSONPointer, all: [Int], byValue: [[UInt8]: [Int]])
    }

    /// From so many rules on a table pays.
    private static let minTable = 8

    /// All rules, by their numbers.
    let all: [Int]
    private var parts: [Part] = []

    /// Takes the numbers of rules, in order.
    init(_ numbers: [Int], of rules: [MockRule]) {
        all = numbers
        var plain: [Int] = []
        var rest = numbers[...]
        while let number = rest.first {
            let pointer = rules[number].equality?.pointer
            let run = pointer == nil ? rest.prefix(1) : rest.prefix { rules[$0].equality?.pointer == pointer }
            if let pointer, run.count >= Self.minTable {
                if !plain.isEmpty { parts.append(.rules(plain)) }
                plain = []
                let byValue = Dictionary(grouping: run) { rules[$0].equality?.key ?? [] }
                parts.append(.table(pointer, all: Array(run), byValue: byValue))
            } else {
                plain += run
            }
            rest = rest.dropFirst(run.count)
        }
        if !plain.isEmpty, !parts.isEmpty { parts.append(.rules(plain)) }
    }

    /// Whether some rules are found by their values.
    var isIndexed: Bool { !parts.isEmpty }

    /// The rules that may be for a call, and of each table one more that says what it asks for.
    func candidates(_ context: MockContext) -> [Int] {
        guard isIndexed else { return all }
        return parts.reduce(into: []) { candidates, part in
            switch part {
            case .rules(let rules): candidates += rules
            case .table(_, let all, _) where context.known == .head: candidates += all.prefix(1)
            case .table(let pointer, let all, let byValue):
                let value = context.firstValue(at: pointer)
                if case .number? = value {
                    // It may be worth the same as an integer.
                    candidates += all
                } else {
                    candidates += value?.key.flatMap { byValue[$0] } ?? Array(all.prefix(1))
                }
            }
        }
    }
}

extension JSONValue {
    /// What is the same for two values if they are equal; none for those that are compared otherwise.
    var key: [UInt8]? {
        switch self {
        // One that is worth an integer is found by that.
        case .string, .integer, .bool, .null: (unquoted ?? self).bytes
        case .number, .array, .object: nil
        }
    }
}
