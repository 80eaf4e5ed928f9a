internal import Bytes
internal import HTTP
internal import Protocols
internal import RPC
internal import Types

/// The message that a response of a REST server means.
struct RESTResponse {
    let binding: RESTBinding
    let types: KnownTypes
    /// The bytes that the message may have.
    let limit: Int

    /// Reads the message, whose members that no field has are left out.
    ///
    /// - Parameters:
    ///   - body: the body of the response; nothing is the empty message.
    ///   - head: the head of the response.
    ///   - isConverted: whether the message is converted for the caller, which reads it: a body that is the message stays as it is.
    ///   - worker: the worker of the call.
    /// - Returns: the message as JSON.
    /// - Throws: an error for a body that is not JSON, or not of the type.
    func message(
        body: [UInt8],
        _ head: HTTPHead,
        isConverted: Bool,
        on worker: Worker
    ) throws(RPCError) -> [UInt8] {
        let (message, field) = try content(body, head)
        if isConverted, !message.isEmpty { return message }
        let output = worker.acquireQueue()
        defer { worker.release(output) }
        do throws(MessageError) {
            try worker.messageCodec.appendJSON(
                merging: message.span,
                edits: field,
                binding.method.response,
                types.set,
                types.form,
                // A response with more is that of a newer version.
                dropsUnknown: true,
                limit: limit,
                to: output
            )
        } catch {
            let code = error.reason == .tooLarge ? RPCCode.resourceExhausted : .internal
            throw RPCError(code, "the upstream sent an invalid response: \(error)")
        }
        types.unknownFields.count(of: binding.method, .response, worker)
        return output.readable.array
    }

    /// The message, which may be nothing, or the value of a field.
    private func content(
        _ body: [UInt8],
        _ head: HTTPHead
    ) throws(RPCError) -> (message: [UInt8], field: [MessageEdit]) {
        let type = head.first(.contentType).map { head.value(at: $0).array } ?? []
        switch binding.responseBody {
        case .field(let field) where field.isHTTPBody:
            return ([], [MessageEdit(field.tokens, json: HTTPBody(contentType: type.span, data: body).json)])
        case .message where binding.method.response.isHTTPBody:
            return (HTTPBody(contentType: type.span, data: body).json, [])
        default: break
        }
        guard !body.isEmpty else { return ([], []) }
        guard type.span.isJSONType else {
            throw RPCError(.unknown, "the upstream sent an invalid response: its content type is not JSON")
        }
        guard case .field(let field) = binding.responseBody else { return (body, []) }
        return ([], [MessageEdit(field.tokens, json: body)])
    }
}
