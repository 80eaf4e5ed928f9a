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

    private mutating func compare(_ members: [JSONValue.Member], _ others: [JSONValue.Member], at place: String) {
        var left = Dictionary(others.map { (Array($0.name.utf8), $0.value) }) { first, _ in first }
        for member in members {
            guard places.count < limit else { return }
            let below = Self.place(member.name, in: place)
            if let other = left.removeValue(forKey: Array(member.name.utf8)) {
                compare(member.value, other, at: below)
            } else {
                add(below)
            }
        }
        guard !left.isEmpty else { return }
        for other in others where left[Array(other.name.utf8)] != nil { add(Self.place(other.name, in: place)) }
    }

    private mutating func add(_ place: String) {
        if places.count < limit { places.append(place) }
    }

    private static func place(_ name: String, in place: String) -> String {
        "\(place)/\(name.replacing("~", with: "~0").replacing("/", with: "~1"))"
    }
}
