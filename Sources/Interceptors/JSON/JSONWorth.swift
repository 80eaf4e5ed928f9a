internal import Bytes
internal import Documents
internal import Proxy

extension JSONValue {
    /// Whether it is worth the same where 64-bit integers may stand in quotes, as in ProtoJSON: `"5"` is `5`.
    func isWorth(_ other: JSONValue) -> Bool {
        switch (self, other) {
        case (.array(let items), .array(let others)):
            items.count == others.count && zip(items, others).allSatisfy { $0.isWorth($1) }
        case (.object(let members), .object(let others)):
            members.count == others.count
                && members.allSatisfy { member in other[member.name].map { member.value.isWorth($0) } ?? false }
        default: self == other || unquoted == other || self == other.unquoted
        }
    }

    /// The integer that a string has in it, as ProtoJSON writes it; none for anything else.
    var unquoted: JSONValue? {
        guard case .string(let text) = self else { return nil }
        // As many digits as 64 bits may have, and a sign.
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard 1...20 ~= digits.count, digits.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        guard let value = try? JSON.parse(Array(text.utf8)) else { return nil }
        switch value {
        case .integer, .number: return value
        default: return nil
        }
    }
}

extension MessagePart {
    /// Whether the value is worth the same; objects of a known type may each leave out default values.
    func isWorth(_ other: JSONValue) -> Bool {
        if json.isWorth(other) { return true }
        switch (json, other) {
        case (.array(let items), .array(let others)):
            return items.count == others.count && zip(items, others).allSatisfy { item($0).isWorth($1) }
        case (.object(let members), .object(let others)) where !hasFields:
            return members.count == others.count
                && members.allSatisfy { member in
                    others.value(named: member.name).map { item(member.value).isWorth($0) } ?? false
                }
        case (.object, .object(let others)):
            let other = with(other)
            return names(with: others).allSatisfy { name in
                guard let value = child(name) else { return other.child(name) == nil }
                return other.child(name).map { value.isWorth($0.json) } ?? false
            }
        default: return false
        }
    }
}
