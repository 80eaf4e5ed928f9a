internal import Bytes
internal import Configuration
internal import Documents
internal import Proxy

/// A message of a request as it was recorded.
enum TapeMessage: Sendable {
    case json(JSONValue)
    case bytes([UInt8])
    /// It was too long, or was not to be shown.
    case unknown

    /// Reads a recorded message.
    init(_ section: Section) {
        if let node = section.node("json") {
            self = .json(Self.expected(node))
        } else if section.has("text") {
            self = .bytes(Array(section.string("text").utf8))
        } else if section.has("base64") {
            self = .bytes(section.base64("base64") ?? [])
        } else {
            self = .unknown
        }
    }

    /// The value of `{ "": { equals: VALUE } }`, as mocks write that a message is like this.
    private static func expected(_ node: Node) -> JSONValue {
        guard let members = node.entries, members.count == 1, members[0].key.isEmpty,
            let tests = members[0].value.entries, tests.count == 1, tests[0].key == "equals"
        else { return (try? JSON.parse(node.json)) ?? .null }
        return (try? JSON.parse(tests[0].value.json)) ?? .null
    }

    /// The place in which a message is not as it was recorded; none if it is.
    ///
    /// - Parameters:
    ///   - context: the call, and the message.
    ///   - ignored: places that do not count.
    /// - Returns: a JSON Pointer, which is empty for the whole.
    func difference(from context: MockContext, ignoring ignored: [JSONPointer]) -> String? {
        switch self {
        case .unknown: return ""
        case .bytes(let bytes): return bytes == context.payload ? nil : ""
        case .json(let recorded):
            guard let message = context.message else { return "" }
            return Self.difference(between: recorded, and: message, ignoring: ignored)
        }
    }

    /// The first place in which a value is not as recorded; what was not to be shown counts as equal.
    static func difference(
        between recorded: JSONValue,
        and value: JSONValue,
        ignoring ignored: [JSONPointer] = []
    ) -> String? {
        let (recorded, value) = (recorded.removing(ignored), value.removing(ignored))
        return recorded.difference(from: value, at: "")
    }
}

extension JSONValue {
    fileprivate func removing(_ pointers: [JSONPointer]) -> JSONValue {
        pointers.reduce(into: self) { $0.remove($1) }
    }

    fileprivate func difference(from other: JSONValue, at place: String) -> String? {
        switch (self, other) {
        case (.string("\(Redactions.mask)"), _): return nil
        case (.object(let members), .object(let others)):
            let names = Set(members.map(\.name)).union(others.map(\.name)).sorted()
            for name in names {
                let below = "\(place)/\(name.replacing("~", with: "~0").replacing("/", with: "~1"))"
                guard let mine = self[name], let theirs = other[name] else { return below }
                if let difference = mine.difference(from: theirs, at: below) { return difference }
            }
            return nil
        case (.array(let items), .array(let others)):
            for index in 0..<max(items.count, others.count) {
                guard index < items.count, index < others.count else { return "\(place)/\(index)" }
                if let difference = items[index].difference(from: others[index], at: "\(place)/\(index)") {
                    return difference
                }
            }
            return nil
        default: return self == other ? nil : place
        }
    }
}
