internal import Bytes
internal import Documents
internal import Protocols
internal import RPC
internal import Types

/// The message that a request to a REST path means.
struct RESTRequest {
    let binding: RESTBinding
    let parameters: RESTParameters
    let types: KnownTypes
    /// The most bytes that the message may have.
    let limit: Int

    /// The message as JSON.
    ///
    /// What the path says counts before the query, and that before the body.
    ///
    /// - Parameters:
    ///   - body: the body of the request.
    ///   - contentType: what the request says of it.
    ///   - codec: reads messages.
    /// - Returns: the JSON; whether it fits the type is found out when it is converted.
    /// - Throws: what the caller is told about a body that is not allowed, is no JSON, or says something else than the path.
    func message(
        body: Span<UInt8>,
        contentType: Span<UInt8>,
        with codec: MessageCodec
    ) throws(RPCError) -> [UInt8] {
        if case .message = binding.body, parameters.isEmpty, !binding.method.request.isHTTPBody {
            try checkType(contentType, of: body)
            return body.count == 0 ? Array("{}".utf8) : body.array
        }
        var message = try base(body, contentType)
        for (field, value) in parameters.path { try set(field, value, in: &message, with: codec) }
        var seen: [FieldPath] = []
        for (field, value) in parameters.query {
            // The first element of a list replaces what the body has, and the others follow it.
            let isFurther = seen.contains { $0.isSame(as: field) }
            guard message.put(field.isList ? .array([value]) : value, at: field.steps[...], appends: isFurther) else {
                throw Self.noPlace(field)
            }
            seen.append(field)
        }
        return message.bytes
    }

    /// What the body says.
    private func base(_ body: Span<UInt8>, _ contentType: Span<UInt8>) throws(RPCError) -> JSONValue {
        switch binding.body {
        case .none:
            guard body.count == 0 else {
                throw RPCError(.invalidArgument, "\(binding.text) has no body, but the request has one")
            }
            return .object([])
        case .message:
            if binding.method.request.isHTTPBody { return Self.httpBody(body, contentType) }
            try checkType(contentType, of: body)
            guard body.count > 0 else { return .object([]) }
            let message = try Self.parsed(body)
            guard case .object = message else { throw RPCError(.invalidArgument, "the body is no JSON object") }
            return message
        case .field(let field):
            var value = JSONValue.null
            if field.isHTTPBody {
                value = Self.httpBody(body, contentType)
            } else {
                try checkType(contentType, of: body)
                guard body.count > 0 else {
                    throw RPCError(.invalidArgument, "the request has no body, which is to be \(field.name)")
                }
                value = try Self.parsed(body)
            }
            return .object([JSONValue.Member(field.steps[0].json, value)])
        }
    }

    /// Whoever sends a form from a web page, which browsers let everybody do, sends no JSON.
    private func checkType(_ contentType: Span<UInt8>, of body: Span<UInt8>) throws(RPCError) {
        guard body.count > 0, !contentType.isJSONType else { return }
        let words = contentType.count == 0 ? "has no content type" : "is no JSON by its content type"
        throw RPCError(.invalidArgument, "the body \(words); send it as application/json", httpStatus: 415)
    }

    private static func parsed(_ body: Span<UInt8>) throws(RPCError) -> JSONValue {
        do throws(JSONError) {
            return try JSON.parse(body)
        } catch {
            let place = "line \(error.line), column \(error.column)"
            throw RPCError(.invalidArgument, "the body is not valid JSON: \(error.text) (\(place))")
        }
    }

    /// A body of any type, as `google.api.HttpBody` has it.
    private static func httpBody(_ body: Span<UInt8>, _ contentType: Span<UInt8>) -> JSONValue {
        let data = ByteQueue()
        data.append(base64: body, padded: true)
        return .object([
            JSONValue.Member("contentType", .string(contentType.string)),
            JSONValue.Member("data", .string(data.readable.string)),
        ])
    }

    /// Sets a field that the path says, unless the body says something else.
    private func set(
        _ field: FieldPath,
        _ value: JSONValue,
        in message: inout JSONValue,
        with codec: MessageCodec
    ) throws(RPCError) {
        if let other = message.value(at: field.steps[...]), other != .null, other != value {
            guard try bytes(of: field, value, codec).elementsEqual(bytes(of: field, other, codec)) else {
                throw RPCError(.invalidArgument, "the body has another value of \(field.name) than the path")
            }
        }
        guard message.put(value, at: field.steps[...]) else { throw Self.noPlace(field) }
    }

    /// The message that has this one field, by which two ways to write a value are the same.
    private func bytes(
        of field: FieldPath,
        _ value: JSONValue,
        _ codec: MessageCodec
    ) throws(RPCError) -> [UInt8] {
        var message = JSONValue.object([])
        message.put(value, at: field.steps[...])
        let (text, output) = (message.bytes, ByteQueue())
        do throws(MessageError) {
            let type = binding.method.request
            try codec.appendMessage(ofJSON: text.span, type, types.set, limit: limit, to: output)
        } catch {
            throw RPCError(.invalidArgument, error.description)
        }
        return output.readable.array
    }

    private static func noPlace(_ field: FieldPath) -> RPCError {
        RPCError(.invalidArgument, "the body has no object on the way to \(field.name)")
    }
}

extension Span<UInt8> {
    /// Whether a content type is that of JSON.
    fileprivate var isJSONType: Bool {
        let type = mediaType.array.map { $0.lowercasedASCII }
        return type.span.equals("application/json")
            || type.span.hasPrefix("application/") && type.span.hasSuffix(Array("+json".utf8))
    }
}

extension JSONValue {
    /// The value of a field, by either of its names.
    func value(at steps: ArraySlice<(json: String, name: String)>) -> JSONValue? {
        guard let step = steps.first else { return self }
        return (self[step.json] ?? self[step.name])?.value(at: steps.dropFirst())
    }

    /// Gives a field a value, and makes the objects on the way.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - steps: the names on the way.
    ///   - appends: whether the elements of a list are added to those that are there.
    /// - Returns: false if something on the way is no object.
    @discardableResult
    fileprivate mutating func put(
        _ value: JSONValue,
        at steps: ArraySlice<(json: String, name: String)>,
        appends: Bool = false
    ) -> Bool {
        guard let step = steps.first else {
            if appends, case .array(let items) = self, case .array(let more) = value {
                self = .array(items + more)
            } else {
                self = value
            }
            return true
        }
        if self == .null { self = .object([]) }
        guard case .object(var members) = self else { return false }
        let found = members.firstIndex { $0.name.isSame(as: step.json) || $0.name.isSame(as: step.name) }
        let place = found ?? members.count
        if place == members.count { members.append(Member(step.json, .null)) }
        let isPut = members[place].value.put(value, at: steps.dropFirst(), appends: appends)
        self = .object(members)
        return isPut
    }
}
