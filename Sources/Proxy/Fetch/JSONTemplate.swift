public import Bytes
public import Configuration
public import Documents

/// A JSON value whose strings are templates; names, numbers and all else stay as the file writes them.
public typealias JSONTemplate = JSONTree<Template>

extension JSONTree where Text == Template {
    /// Compiles a YAML value; what is wrong with its strings is reported.
    public init(_ node: Node, into diagnostics: Diagnostics) {
        self.init(node) { Template($0, at: $1, allowsControls: true, into: diagnostics) }
    }

    /// Whether a string of it comes from a call.
    public var requiresCall: Bool { texts.contains(where: \.requiresCall) }

    /// Why the call does not have all of its strings, if it does not; what is not UTF-8 has no place in JSON.
    public func lack(for call: Call?) -> TemplateLack? {
        let templates = texts
        if let lack = templates.lack(for: call) { return lack }
        let areTexts = templates.allSatisfy { String(validating: $0.value(for: call), as: UTF8.self) != nil }
        return areTexts ? nil : .missing
    }

    /// Appends the value as compact JSON (RFC 8259), members in the order of the file.
    public func append(for call: Call?, to queue: ByteQueue) {
        append(to: queue) { queue.append(json: $0.value(for: call).span) }
    }
}
