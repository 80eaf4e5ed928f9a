internal import Bytes
internal import Documents
internal import RPC
internal import Types

/// What a message is as a request to a REST path: the inverse of ``RESTRequest``.
struct RESTTarget {
    /// The bytes of a path with its query that servers accept.
    private static let maxTarget = 8 * 1024

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
    /// - Throws: an error with the code `invalid_argument` for a value that cannot stand in the path, and for a body that is not
    ///   valid, and with the code `unimplemented` for a field that the path has no place for.
    init(_ binding: RESTBinding, _ message: JSONValue) throws(RPCError) {
        // JSON has the whole value, so a part of it has nothing to be written from.
        if let part = binding.variables.first(where: { $0.field.stepsToWhole != nil }) {
            throw RPCError(.unimplemented, "\(binding.text) has \(part.field.name), a part of a value, in its path")
        }
        var left = message
        let path = ByteQueue()
        var last = ""
        let isComplete = binding.appendPath(to: path) { (field: FieldPath) -> String? in
            let text = left.value(at: field.steps[...]).flatMap(Self.text) ?? Self.text(of: field.absent)
            left = left.removing(field.steps[...])
            last = field.steps.map(\.json).joined(separator: ".")
            return text
        }
        guard isComplete else {
            throw RPCError(.invalidArgument, "the value of \(last) cannot stand in the path \(binding.text)")
        }
        try setBody(&left, binding)
        if case .message = binding.body {} else { try Self.appendQuery(of: left, binding, to: path) }
        guard path.count <= Self.maxTarget else {
            throw RPCError(.unimplemented, "\(binding.text) has no place for a message of this size")
        }
        target = path.readable.array
    }

    /// Moves what the body has out of the message.
    private mutating func setBody(_ message: inout JSONValue, _ binding: RESTBinding) throws(RPCError) {
        switch binding.body {
        case .none: break
        case .message where binding.method.request.isHTTPBody: try setBody(HTTPBody(message, orError: .invalidArgument))
        case .message: body = message.bytes
        case .field(let field):
            let value = message.value(at: field.steps[...])
            message = message.removing(field.steps[...])
            if field.isHTTPBody {
                try setBody(HTTPBody(value, orError: .invalidArgument))
            } else {
                body = value?.bytes ?? field.absent
            }
        }
    }

    private mutating func setBody(_ body: HTTPBody) {
        (self.body, contentType) = (body.data, body.contentType)
    }

    private static func appendQuery(
        of message: JSONValue,
        _ binding: RESTBinding,
        to path: ByteQueue
    ) throws(RPCError) {
        var parameters: [(name: String, text: String)] = []
        try collect(message, below: [], of: binding, into: &parameters)
        for (index, parameter) in parameters.enumerated() {
            path.append(index == 0 ? "?" : "&")
            path.append(escaping: parameter.name)
            path.append("=")
            path.append(escaping: parameter.text)
        }
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
            let name = path.joined(separator: ".")
            let noPlace = RPCError(.unimplemented, "\(binding.text) has no place for the field \(name)")
            guard let field = binding.method.request.fieldPath(path) else { throw noPlace }
            if field.hasFields, member.value != .object([]) {
                try collect(member.value, below: path, of: binding, into: &parameters)
                continue
            }
            let values =
                if case .array(let items) = member.value, field.isList { items } else { JSONItems([member.value]) }
            for value in values {
                guard field.form != nil, let text = text(value) else { throw noPlace }
                parameters.append((name, text))
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
    /// Returns the message without a field, and without the objects on the way that are empty then.
    fileprivate func removing(_ steps: ArraySlice<(json: String, name: String)>) -> JSONValue {
        guard let step = steps.first, case .object(let members) = self else { return self }
        return .object(
            members.compactMap { member in
                guard member.name.isSame(as: step.json) else { return member }
                guard steps.count > 1 else { return nil }
                let rest = member.value.removing(steps.dropFirst())
                return rest == .object([]) ? nil : Member(member.name, rest)
            }
        )
    }
}

extension ByteQueue {
    fileprivate func append(escaping text: String) {
        append(escaping: Array(text.utf8).span)
    }
}
