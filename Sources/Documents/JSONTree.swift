public import Bytes
public import Configuration

/// A JSON value of the file whose strings are texts with parts that are filled in; all else stays as the file writes it.
public indirect enum JSONTree<Text: Sendable>: Sendable {
    /// A value without strings, as JSON.
    case plain([UInt8])
    /// A string.
    case text(Text)
    /// An array.
    case array([JSONTree])
    /// An object.
    case object([(name: String, value: JSONTree)])

    /// Compiles a YAML value.
    ///
    /// - Parameters:
    ///   - node: the value.
    ///   - text: compiles a string that stands at a place, and reports what is wrong with it.
    public init(_ node: Node, _ text: (String, Mark) -> Text) {
        switch node.content {
        case .null: self = .plain(node.json)
        case .scalar(let string, _):
            // Whether a scalar is a string is decided where YAML becomes JSON.
            let json = node.json
            self = json.first == UInt8(ascii: "\"") ? .text(text(string, node.mark)) : .plain(json)
        case .sequence(let items): self = .array(items.map { JSONTree($0, text) })
        case .mapping(let entries): self = .object(entries.map { ($0.key, JSONTree($0.value, text)) })
        }
    }

    /// Its strings.
    public var texts: [Text] {
        switch self {
        case .plain: []
        case .text(let text): [text]
        case .array(let items): items.flatMap(\.texts)
        case .object(let members): members.flatMap(\.value.texts)
        }
    }

    /// Appends the value as compact JSON (RFC 8259), members in the order of the file.
    ///
    /// - Parameters:
    ///   - queue: where the value goes.
    ///   - text: appends a string, as JSON.
    public func append(to queue: ByteQueue, _ text: (Text) -> Void) {
        switch self {
        case .plain(let json): queue.append(json)
        case .text(let string): text(string)
        case .array(let items):
            queue.append("[")
            for (index, item) in items.enumerated() {
                if index > 0 { queue.append(",") }
                item.append(to: queue, text)
            }
            queue.append("]")
        case .object(let members):
            queue.append("{")
            for (index, member) in members.enumerated() {
                if index > 0 { queue.append(",") }
                queue.append(json: member.name)
                queue.append(":")
                member.value.append(to: queue, text)
            }
            queue.append("}")
        }
    }
}
