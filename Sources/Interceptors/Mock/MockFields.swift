internal import Bytes
internal import Configuration
internal import Protocols
internal import Proxy

/// Headers or trailers whose values are texts of a mock.
struct MockFields: Sendable {
    private let fields: [(name: [UInt8], value: MockText)]

    /// No fields.
    init() { fields = [] }

    /// The fields that only recorded responses of plain HTTP have beside others.
    private static let recorded: Set<String> = ["content-length", "content-encoding"]

    /// Reads fields, by their names a value or a list of values; what is wrong is reported.
    init(_ key: String, of section: Section, areRecorded: Bool = false) {
        guard let node = section.node(key), let entries = node.entries else {
            if let node = section.node(key) {
                section.report("\"\(key)\" cannot be \(node.summary); write a mapping of names to values", at: key)
            }
            fields = []
            return
        }
        fields = entries.flatMap { entry in
            // What a body of plain HTTP is, nobody else says.
            let isFree = entry.key.lowercased() == "content-type" && key == "headers"
            if !isFree, !areRecorded || !Self.recorded.contains(entry.key.lowercased()) {
                _ = HeaderName.checked(entry.key, at: entry.keyMark, into: section.diagnostics)
            }
            let name = Array(entry.key.lowercased().utf8)
            return Self.values(of: entry.value, into: section.diagnostics).map { value in
                let text = MockText(value.text, at: value.mark, allowsControls: false, into: section.diagnostics)
                return (name, text)
            }
        }
    }

    /// The values of a field: one, or a list of them.
    static func values(of node: Node, into diagnostics: Diagnostics) -> [MarkedString] {
        switch node.content {
        case .scalar(let text, _): return [MarkedString(text, at: node.mark)]
        case .sequence(let items): return items.flatMap { values(of: $0, into: diagnostics) }
        case .null: return [MarkedString("", at: node.mark)]
        case .mapping:
            diagnostics.report("a value cannot be \(node.summary); write a text, or a list of texts", at: node.mark)
            return []
        }
    }

    var isEmpty: Bool { fields.isEmpty }

    /// The number of messages of the request that the values need.
    var neededMessages: Int { fields.map(\.value.neededMessages).max() ?? 0 }

    /// The fields for a call; control characters that a message has have no place there, nor has the content type in RPC.
    func values(_ context: MockContext) -> [(name: [UInt8], value: [UInt8])] {
        let isPlain = context.call.rpcProtocol == .http
        return fields.filter { isPlain || !$0.name.span.equals("content-type") }.map { field in
            (field.name, Self.visible(field.value.value(context)))
        }
    }

    /// A value without control characters.
    static func visible(_ value: [UInt8]) -> [UInt8] {
        value.map { $0 < 0x20 || $0 == 0x7f ? UInt8(ascii: " ") : $0 }
    }
}
