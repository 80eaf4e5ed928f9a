/// The short forms at the top of the file, turned into the long ones.
enum Shorthand {
    private static let long = ["listen": "listeners", "upstream": "upstreams"]

    /// Replaces `listen` by `listeners`, `upstream` by `upstreams`, and one `admin` by a list of it; reports a short form
    /// next to its long one.
    static func expand(_ root: Node, into diagnostics: Diagnostics) -> Node {
        guard case .mapping(let entries) = root.content else { return root }
        let keys = Set(entries.map(\.key))
        let expanded: [Node.Entry] = entries.compactMap { entry in
            if entry.key == "admin" { return listed(entry) }
            guard let long = long[entry.key] else { return entry }
            guard !keys.contains(long) else {
                diagnostics.report(
                    "\"\(entry.key)\" is short for \"\(long)\"; write only one of them",
                    at: entry.keyMark
                )
                return nil
            }
            guard let value = expand(entry) else { return entry }
            return Node.Entry(key: long, keyMark: entry.keyMark, value: value)
        }
        return Node(.mapping(expanded), at: root.mark)
    }

    /// The entry with a list of its value, unless that is one.
    private static func listed(_ entry: Node.Entry) -> Node.Entry {
        let value = entry.value
        switch value.content {
        case .scalar, .mapping:
            return Node.Entry(key: entry.key, keyMark: entry.keyMark, value: Node(.sequence([value]), at: value.mark))
        case .null, .sequence: return entry
        }
    }

    /// The long form of a value; none if it is no good short form, so that reading it as one reports that.
    private static func expand(_ entry: Node.Entry) -> Node? {
        let value = entry.value
        switch value.content {
        case .scalar where entry.key == "upstream":
            let upstream = Node.Entry(key: "default", keyMark: value.mark, value: value)
            return Node(.mapping([upstream]), at: value.mark)
        case .scalar: return Node(.sequence([value]), at: value.mark)
        case .sequence(let items) where entry.key == "listen": return items.allSatisfy { $0.text != nil } ? value : nil
        case .null, .sequence, .mapping: return nil
        }
    }
}
