public import Bytes
public import Configuration
internal import Documents

/// A JSON value whose strings are templates; names, numbers and all else stay as the file writes them.
public indirect enum JSONTemplate: Sendable {
    case plain([UInt8])
    case text(Template)
    case array([JSONTemplate])
    case object([(name: String, value: JSONTemplate)])

    /// Compiles a YAML value; what is wrong with its strings is reported.
    public init(_ node: Node, into diagnostics: Diagnostics) {
        switch node.content {
        case .null: self = .plain(node.json)
        case .scalar(let text, _):
            // Whether a scalar is a string is decided where YAML becomes JSON.
            let json = node.json
            guard json.first == UInt8(ascii: "\"") else {
                self = .plain(json)
                return
            }
            self = .text(Template(text, at: node.mark, allowsControls: true, into: diagnostics))
        case .sequence(let items): self = .array(items.map { JSONTemplate($0, into: diagnostics) })
        case .mapping(let entries):
            self = .object(entries.map { ($0.key, JSONTemplate($0.value, into: diagnostics)) })
        }
    }

    /// Whether a string of it comes from a call.
    public var requiresCall: Bool {
        switch self {
        case .plain: false
        case .text(let template): template.requiresCall
        case .array(let items): items.contains(where: \.requiresCall)
        case .object(let members): members.contains(where: \.value.requiresCall)
        }
    }

    /// Its strings.
    var templates: [Template] {
        switch self {
        case .plain: []
        case .text(let template): [template]
        case .array(let items): items.flatMap(\.templates)
        case .object(let members): members.flatMap(\.value.templates)
        }
    }

    /// Why the call does not have all of its strings, if it does not; what is not UTF-8 has no place in JSON.
    public func lack(for call: Call?) -> TemplateLack? {
        let templates = templates
        if let lack = templates.lack(for: call) { return lack }
        let areTexts = templates.allSatisfy { String(validating: $0.value(for: call), as: UTF8.self) != nil }
        return areTexts ? nil : .missing
    }

    /// Appends the value as compact JSON (RFC 8259), members in the order of the file.
    public func append(for call: Call?, to queue: ByteQueue) {
        switch self {
        case .plain(let json): queue.append(json)
        case .text(let template): queue.append(json: template.value(for: call).span)
        case .array(let items):
            queue.append("[")
            for (index, item) in items.enumerated() {
                if index > 0 { queue.append(",") }
                item.append(for: call, to: queue)
            }
            queue.append("]")
        case .object(let members):
            queue.append("{")
            for (index, member) in members.enumerated() {
                if index > 0 { queue.append(",") }
                queue.append(json: member.name)
                queue.append(":")
                member.value.append(for: call, to: queue)
            }
            queue.append("}")
        }
    }
}
