internal import Bytes
internal import Configuration
internal import Documents
internal import Protocols
internal import Proxy
internal import RPC

/// The places of a message that get other values.
struct MessageChanges: Sendable {
    private enum Change: Sendable {
        case set(JSONPointer, JSONTemplate)
        case remove(JSONPointer)
    }

    static let options = [
        Option(
            "set",
            .node,
            example: "{ /sentence: \"Hello {header:x-name}\" }",
            "The places of each message to change, as JSON Pointers, and their values. Strings are templates."
        ),
        Option("remove", .strings, example: "[/debug]", "The places of each message to remove, as JSON Pointers."),
    ]

    private var changes: [Change] = []
    private var named: [(pointer: JSONPointer, text: String, mark: Mark)] = []

    /// Reads `set` and `remove`; none if there is neither.
    init?(_ section: Section) {
        guard section.has("set") || section.has("remove") else { return nil }
        if let node = section.node("set") { readSet(node, section) }
        section.reportIfEmpty("remove", write: "JSON Pointers such as /debug")
        for text in section.markedStrings("remove") {
            guard let pointer = JSONPointer(text.text), !pointer.tokens.isEmpty else {
                Self.report(text.text, at: text.mark, section)
                continue
            }
            changes.append(.remove(pointer))
            named.append((pointer, text.text, text.mark))
        }
    }

    private mutating func readSet(_ node: Node, _ section: Section) {
        guard case .mapping(let entries) = node.content, !entries.isEmpty else {
            let advice = "write a mapping of JSON Pointers to values, such as { /name: x }"
            return section.report("\"set\" cannot be \(node.shape); \(advice)", at: "set")
        }
        for entry in entries {
            guard let pointer = JSONPointer(entry.key), !pointer.tokens.isEmpty else {
                Self.report(entry.key, at: entry.keyMark, section)
                continue
            }
            changes.append(.set(pointer, JSONTemplate(entry.value, into: section.diagnostics)))
            named.append((pointer, entry.key, entry.keyMark))
        }
    }

    /// The places that it changes.
    func places(_ direction: Direction) -> [MessagePlace] {
        named.map { MessagePlace($0.pointer, text: $0.text, at: $0.mark, direction, .change) }
    }

    private static func report(_ text: String, at mark: Mark, _ section: Section) {
        let problem = "\(Diagnostic.quote(text)) is not a JSON Pointer to a place in a message"
        section.diagnostics.report("\(problem); write for example /name", at: mark)
    }

    /// Changes a message.
    ///
    /// - Throws: what the caller is told about a message that cannot be changed so.
    func apply(to payload: Span<UInt8>, _ message: Message, _ call: Call) throws(RPCError) {
        let edits = changes.map { change -> (pointer: JSONPointer, json: [UInt8]?) in
            switch change {
            case .remove(let pointer): return (pointer, nil)
            case .set(let pointer, let template):
                let json = ByteQueue()
                template.append(for: call, to: json)
                return (pointer, json.readable.array)
            }
        }
        let edited = try call.edited(payload, edits, message)
        message.replace(with: edited.span)
    }
}
