public import Bytes
public import Configuration

extension ByteQueue {
    /// Appends `value` as compact JSON; numbers as they were written.
    public func append(_ value: JSONValue) {
        if let source = value.source { return source.document.append(source.index, to: self) }
        switch value {
        case .null: append("null")
        case .bool(let value): append(value ? "true" : "false")
        case .integer(let value): append(decimal: value)
        case .number(let number): append(text: number.text)
        case .string(let text): append(json: text)
        case .array(let items): appendJoined(items, "[", "]") { append($0) }
        case .object(let members):
            appendJoined(members, "{", "}") { member in
                append(json: member.name)
                append(":")
                append(member.value)
            }
        }
    }

    /// Appends `node` as compact JSON.
    ///
    /// Plain `true`, `false`, `null` and numbers as JSON writes them keep their type; all other scalars are strings.
    public func append(json node: Node) {
        switch node.content {
        case .null: append("null")
        case .scalar(let text, quoted: false) where text == "true" || text == "false" || JSONNumber(text) != nil:
            append(text: text)
        case .scalar(let text, _): append(json: text)
        case .sequence(let items): appendJoined(items, "[", "]") { append(json: $0) }
        case .mapping(let entries):
            appendJoined(entries, "{", "}") { entry in
                append(json: entry.key)
                append(":")
                append(json: entry.value)
            }
        }
    }

    private func appendJoined<Items: Sequence>(
        _ items: Items,
        _ open: StaticString,
        _ close: StaticString,
        _ one: (Items.Element) -> Void
    ) {
        append(open)
        for (index, item) in items.enumerated() {
            if index > 0 { append(",") }
            one(item)
        }
        append(close)
    }
}

extension JSONValue {
    /// The value as compact JSON.
    public var bytes: [UInt8] {
        let queue = ByteQueue()
        queue.append(self)
        return queue.readable.array
    }
}

extension Node {
    /// The node as compact JSON, as `ByteQueue.append(json:)` writes it.
    public var json: [UInt8] {
        let queue = ByteQueue()
        queue.append(json: self)
        return queue.readable.array
    }
}
