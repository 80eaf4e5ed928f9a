public import Bytes
public import Configuration
public import Documents

/// A JSON value whose strings are templates; names, numbers and all else stay as the file writes them.
public typealias JSONTemplate = JSONTree<Template>

extension JSONTree where Text == Template {
    /// Compiles a YAML value; what is wrong with its strings is reported.
    ///
    /// - Parameters:
    ///   - node: the value.
    ///   - parameters: the names of the named call's parameters, if it is for one.
    ///   - diagnostics: what is told of what is wrong.
    public init(_ node: Node, parameters: [String] = [], into diagnostics: Diagnostics) {
        self.init(node) { Template($0, at: $1, allowsControls: true, parameters: parameters, into: diagnostics) }
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

    /// Appends the value likewise, without the members and items in which a value is absent; `null` if that is all.
    ///
    /// A string that is one parameter and nothing else has the type of its value.
    func append(for call: Call?, _ arguments: CallArguments, to queue: ByteQueue) {
        guard let present = present(arguments) else { return queue.append("null") }
        present.append(to: queue) { template in
            if let parameter = template.onlyParameter, let value = arguments[parameter] {
                queue.append(value.json)
            } else {
                let value = template.value(for: call, arguments) ?? []
                queue.append(json: value.span)
            }
        }
    }

    private func present(_ arguments: CallArguments) -> JSONTree? {
        switch self {
        case .plain: self
        case .text(let template): arguments.has(template.parameters) ? self : nil
        case .array(let items): .array(items.compactMap { $0.present(arguments) })
        case .object(let members):
            .object(members.compactMap { member in member.value.present(arguments).map { (member.name, $0) } })
        }
    }
}
