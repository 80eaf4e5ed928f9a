internal import Bytes
internal import Documents

/// The recorded calls of one name, found by what their first message is worth.
struct TapeList: Sendable {
    /// So many are looked at for what lacks of the nearest one.
    private static let samples = 64

    private let all: [Int]
    private let byFirst: [Int: [Int]]
    /// Those that can be for several messages.
    private let others: [Int]
    private let ignored: [JSONPointer]

    /// Takes the numbers of rules, in order.
    init(_ numbers: [Int], of rules: [MockRule]) {
        all = numbers
        ignored = numbers.first.map { rules[$0].ignoredPlaces } ?? []
        let keyed = numbers.map { (number: $0, key: rules[$0].firstKey) }
        byFirst = Dictionary(grouping: keyed.filter { $0.key != nil }) { $0.key ?? 0 }.mapValues { $0.map(\.number) }
        others = keyed.filter { $0.key == nil }.map(\.number)
    }

    /// The recorded calls that a call may be, in their order; some of the others if there is none.
    func candidates(_ context: MockContext) -> [Int] {
        guard context.known > .head else { return all }
        var keys: Set<Int> = [TapeKey.bytes(context.payload)]
        if context.payload.isEmpty { keys.insert(TapeKey.none) }
        if let value = context.firstMessage { keys.insert(TapeKey.value(value.removing(ignored))) }
        let found = (keys.flatMap { byFirst[$0] ?? [] } + others).sorted()
        return found.isEmpty ? Array(all.prefix(Self.samples)) : found
    }
}

/// What is the same for first messages that count as equal.
enum TapeKey {
    /// No message.
    static let none = 0

    /// A message that is not JSON.
    static func bytes(_ bytes: [UInt8]) -> Int { bytes.hashValue }

    /// A message in JSON.
    static func value(_ value: JSONValue) -> Int {
        var hasher = Hasher()
        value.hashWorth(into: &hasher)
        return hasher.finalize()
    }
}

extension JSONValue {
    /// Adds what is the same for values that are worth the same.
    fileprivate func hashWorth(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(Double(value))
        case .number: hasher.combine(Double(String(decoding: bytes, as: UTF8.self)) ?? 0)
        case .string(let text):
            if let number = unquoted { number.hashWorth(into: &hasher) } else { hasher.combine(Array(text.utf8)) }
        case .array(let items):
            hasher.combine(items.count)
            for item in items { item.hashWorth(into: &hasher) }
        case .object(let members):
            // In whatever order they are.
            hasher.combine(
                members.reduce(0) { sum, member in
                    var hasher = Hasher()
                    hasher.combine(Array(member.name.utf8))
                    member.value.hashWorth(into: &hasher)
                    return sum &+ hasher.finalize()
                }
            )
        }
    }
}
