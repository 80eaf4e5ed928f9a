internal import Bytes
public import Configuration

extension Node {
    /// The node as JSON for people to read, with the types of `json`: two spaces for each level, lists of scalars in one
    /// line, and no line end behind it.
    public var prettyJSON: [UInt8] {
        let queue = ByteQueue()
        queue.append(pretty: self, depth: 0)
        return queue.readable.array
    }
}

extension ByteQueue {
    fileprivate func append(pretty node: Node, depth: Int) {
        switch node.content {
        case .sequence(let items) where items.contains { $0.text == nil }:
            appendLines(items, "[", "]", depth) { append(pretty: $0, depth: depth + 1) }
        case .mapping(let entries) where !entries.isEmpty:
            appendLines(entries, "{", "}", depth) { entry in
                append(json: entry.key)
                append(": ")
                append(pretty: entry.value, depth: depth + 1)
            }
        default: append(json: node)
        }
    }

    private func appendLines<Item>(
        _ items: [Item],
        _ open: StaticString,
        _ close: StaticString,
        _ depth: Int,
        _ one: (Item) -> Void
    ) {
        append(open)
        for (index, item) in items.enumerated() {
            if index > 0 { append(",") }
            appendLineStart(depth + 1)
            one(item)
        }
        appendLineStart(depth)
        append(close)
    }

    private func appendLineStart(_ depth: Int) {
        append("\n")
        for _ in 0..<depth { append("  ") }
    }
}
