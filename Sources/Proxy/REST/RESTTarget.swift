internal import Bytes
internal import Documents
internal import RPC
internal import Types

/// What a message is as a request to a REST path: the inverse of ``RESTRequest``.
struct RESTTarget {
    /// The path, and the query if there is one.
    private(set) var target: [UInt8] = []
    /// The body; none if the request has none.
    private(set) var body: [UInt8]?
    /// What type the body has.
    private(set) var contentType = Array("application/json".utf8)

    /// Writes a message.
    ///
    /// - Parameters:
    ///   - binding: the path.
    ///   - message: the message in JSON, with the names of ProtoJSON.
    /// - Throws: an error with the code `unimplemented` for a message that has no such path, or more than it can say.
    init(_ binding: RESTBinding, _ message: JSONValue) throws(RPCError) {
        var rest = message
        let path = ByteQueue()
        let isComplete = binding.appendPath(to: path) { (field: FieldPath) -> String? in
            let text = rest.value(at: field.steps[...]).flatMap(Self.text) ?? Self.text(of: field.absent)
            rest.remove(field.steps[...])
            return text
        }
        guard isComplete else {
            throw RPCError(.unimplemented, "the message has no value for a part of the path \(binding.text)")
        }
        switch binding.body {
        case .none: break
        case .message where binding.method.request.isHTTPBody: setBody(httpBody: message)
        case .message: body = rest.bytes
        case .field(let field):
            let value = rest[field.steps[0].json]
            rest.remove(field.steps[...])
            if field.isHTTPBody { setBody(httpBody: value ?? .null) } else { body = value?.bytes ?? field.absent }
        }
        if case .message = binding.body {
            target = path.readable.array
            return
        }
        var parameters: [(name: String, text: String)] = []
        try Self.collect(rest, below: [], of: binding, into: &parameters)
        for (index, parameter) in parameters.enumerated() {
            path.append(index == 0 ? "?" : "&")
            path.append(escaping: parameter.name)
            path.append("=")
            path.append(escaping: parameter.text)
        }
        target = path.readable.array
    }

    private mutating func setBody(httpBody value: JSONValue) {
        let data = value["data"]?.string.map { Array($0.utf8) } ?? []
        body = Base64.decode(data.span) ?? []
        contentType = Array((value["contentType"]?.string ?? "application/octet-stream").utf8)
    }

    /// Adds the fields of an object to the parameters of a query.
    private static func collect(
        _ value: JSONValue,
        below steps: [String],
        of binding: RESTBinding,
        into parameters: inout [(name: String, text: String)]
    ) throws(RPCError) {
        guard case .object(let members) = value else { return }
        for member in members {
            let path = steps + [member.name]
            guard let field = binding.method.request.fieldPath(path) else { continue }
            if field.hasFields {
                try collect(member.value, below: path, of: binding, into: &parameters)
                continue
            }
            let values = if case .array(let items) = member.value, field.isList { items } else { [member.value] }
            for value in values {
                guard field.form != nil, let text = text(value) else {
                    throw RPCError(.unimplemented, "\(binding.text) has no place for the field \(field.name)")
                }
                parameters.append((path.joined(separator: "."), text))
            }
        }
    }

    private static func text(_ value: JSONValue) -> String? {
        switch value {
        case .string(let text): text
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .number(let number): number.text
        case .null, .array, .object: nil
        }
    }

    private static func text(of absent: [UInt8]) -> String? {
        (try? JSON.parse(absent)).flatMap(text)
    }
}

extension JSONValue {
    /// Removes a field, and the objects on the way that are empty then.
    fileprivate mutating func remove(_ steps: ArraySlice<(json: String, name: String)>) {
        guard let step = steps.first, case .object(var members) = self,
            let place = members.firstIndex(where: { $0.name.isSame(as: step.json) })
        else { return }
        if steps.count > 1 { members[place].value.remove(steps.dropFirst()) }
        if steps.count == 1 || members[place].value == .object([]) { members.remove(at: place) }
        self = .object(members)
    }
}

extension ByteQueue {
    fileprivate func append(escaping text: String) {
        append(escaping: Array(text.utf8).span)
    }
}
