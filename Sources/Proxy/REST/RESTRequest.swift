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
    /// The bytes that the message may have.
    let limit: Int

    /// The message as JSON.
    ///
    /// What the path says counts before the query, and that before the body.
    ///
    /// - Parameters:
    ///   - body: the body of the request.
    ///   - contentType: what the request says of it.
    ///   - isConverted: whether the message is converted for the upstream, which reads it: a body that is the message stays as it is.
    ///   - worker: the worker of the call.
    /// - Returns: the JSON.
    /// - Throws: what the caller is told about a body that is not allowed, is not JSON, or says something else than the path.
    func message(
        body: Span<UInt8>,
        contentType: Span<UInt8>,
        isConverted: Bool,
        on worker: Worker
    ) throws(RPCError) -> [UInt8] {
        let isMessage = if case .message = binding.body { !binding.method.request.isHTTPBody } else { false }
        if isConverted, isMessage, parameters.isEmpty, body.count > 0 {
            try checkType(contentType, of: body)
            return body.array
        }
        let (message, field) = try base(body, contentType)
        let query = parameters.query.map { field, values in
            MessageEdit(field.tokens, json: field.isList ? JSONValue.array(values).bytes : values[0].bytes)
        }
        let fixed = parameters.path.map { MessageEdit($0.field.tokens, json: $0.value.bytes) }
        let output = ByteQueue()
        do throws(MessageError) {
            try worker.messageCodec.appendJSON(
                merging: message.span,
                fixed: fixed,
                edits: field + query,
                binding.method.request,
                types.set,
                dropsUnknown: types.dropsUnknown,
                limit: limit,
                to: output
            )
            types.unknownFields.count(of: binding.method, .request, worker)
        } catch {
            let code = error.reason == .tooLarge ? RPCCode.resourceExhausted : .invalidArgument
            throw RPCError(code, error.description, httpStatus: error.reason == .tooLarge ? 413 : nil)
        }
        return output.readable.array
    }

    /// Returns the message of the body, which may be empty, or the value of the field that the body sets.
    private func base(
        _ body: Span<UInt8>,
        _ contentType: Span<UInt8>
    ) throws(RPCError) -> (message: [UInt8], field: [MessageEdit]) {
        switch binding.body {
        case .none:
            guard body.count == 0 else {
                throw RPCError(.invalidArgument, "\(binding.text) has no body, but the request has one")
            }
            return ([], [])
        case .message:
            if binding.method.request.isHTTPBody {
                return (HTTPBody(contentType: contentType, data: body.array).json, [])
            }
            try checkType(contentType, of: body)
            return (body.array, [])
        case .field(let field) where field.isHTTPBody:
            let body = HTTPBody(contentType: contentType, data: body.array)
            return ([], [MessageEdit(field.tokens, json: body.json)])
        case .field(let field):
            try checkType(contentType, of: body)
            guard body.count > 0 else {
                throw RPCError(.invalidArgument, "the request has no body, which is to be \(field.name)")
            }
            return ([], [MessageEdit(field.tokens, json: body.array)])
        }
    }

    /// Whoever sends a form from a web page, which browsers let everybody do, sends no JSON.
    private func checkType(_ contentType: Span<UInt8>, of body: Span<UInt8>) throws(RPCError) {
        guard body.count > 0, !contentType.isJSONType else { return }
        let words = contentType.count == 0 ? "has no content type" : "is not JSON by its content type"
        throw RPCError(.invalidArgument, "the body \(words); send it as application/json", httpStatus: 415)
    }
}

extension Span<UInt8> {
    /// Whether a content type is that of JSON.
    var isJSONType: Bool {
        let type = mediaType.array.map { $0.lowercasedASCII }
        return type.span.equals("application/json")
            || type.span.hasPrefix("application/") && type.span.hasSuffix(Array("+json".utf8))
    }
}

extension FieldPath {
    /// The names on the way in JSON.
    var tokens: [String] { steps.map(\.json) }
}

extension JSONValue {
    /// The value of a field, by either of its names.
    func value(at steps: ArraySlice<(json: String, name: String)>) -> JSONValue? {
        guard let step = steps.first else { return self }
        return (self[step.json] ?? self[step.name])?.value(at: steps.dropFirst())
    }
}
