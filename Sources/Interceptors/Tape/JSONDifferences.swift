internal import Bytes
internal import Documents
internal import Patterns
internal import Proxy

/// The places in which a value is not as it was recorded.
struct JSONDifferences {
    /// So many say enough.
    private let limit: Int
    /// JSON Pointers; the empty one is the whole.
    private(set) var places: [String] = []

    init(limit: Int) { self.limit = limit }

    /// Compares what was recorded with what is there; what was not to be shown counts as equal.
    mutating func compare(_ recorded: JSONValue, _ seen: JSONValue, at place: String) {
        guard places.count < limit else { return }
        switch (recorded, seen) {
        case (.object(let members), .object(let others)): compare(members, others, at: place)
        case (.array(let items), .array(let others)):
            for (index, (item, other)) in zip(items, others).enumerated() {
                compare(item, other, at: "\(place)/\(index)")
            }
            if items.count != others.count { add("\(place)/\(min(items.count, others.count))") }
        case (.string("\(Redactions.mask)"), _): break
        case (.string(let text), .string(let other)) where text.contains("\(Redactions.mask)"):
            // The mask is a pattern for what it has hidden.
            if !Glob.matches(other[...], text[...]) { add(place) }
        default: if !recorded.isWorth(seen) { add(place) }
        }
    }

    private mutating func compare(_ members: JSONMembers, _ others: JSONMembers, at place: String) {
        var (index, otherIndex) = (members.startIndex, others.startIndex)
        // Most have the same order.
        while index < members.endIndex, otherIndex < others.endIndex {
            let (member, other) = (members[index], others[otherIndex])
            guard places.count < limit, member.name.isSame(as: other.name) else { break }
            compare(member.value, other.value, at: Self.place(member.name, in: place))
            (index, otherIndex) = (members.index(after: index), others.index(after: otherIndex))
        }
        for member in members[index...] {
            guard places.count < limit else { return }
            let below = Self.place(member.name, in: place)
            if let other = others.value(named: member.name) {
                compare(member.value, other, at: below)
            } else {
                add(below)
            }
        }
        for other in others[otherIndex...] {
            guard places.count < limit else { return }
            if members.value(named: other.name) == nil { add(Self.place(other.name, in: place)) }
        }
    }

    private mutating func add(_ place: String) {
        if places.count < limit { places.append(place) }
    }

    private static func place(_ name: String, in place: String) -> String {
        "\(place)/\(name.replacing("~", with: "~0").replacing("/", with: "~1"))"
    }
}
