internal import Bytes
internal import Compressors
internal import Documents
internal import HTTP
internal import Protocols
internal import RPC
internal import Types

/// A response that has come whole.
extension RESTResponseStream {
    func sendWhole() {
        guard let body, let head else { return }
        do throws(RPCError) {
            let plain = try worker.plainBody(body, of: head, .response, limit: limit)
            let error = error(plain.span, status: head.status)
            // An interceptor may respond with anything, as to a caller of plain HTTP.
            if call?.response.isOwn == true, error == nil, head.status != 200 || !hasMessage(head) {
                return finish(head, plain.span)
            }
            guard head.status == 200 else {
                let code = RPCCode(inferredFromStatus: head.status)
                throw error ?? RPCError(code, "HTTP status \(head.status)", httpStatus: head.status)
            }
            let message = try parsed(plain.span)
            switch binding.responseBody {
            case .field(let field) where !field.isHTTPBody:
                let value = message.value(at: field.steps[...])?.bytes ?? field.absent
                return finish(head, value.span)
            case .field(let field):
                let value = message.value(at: field.steps[...])
                try sendBody(value, head)
            case .message where binding.method.response.isHTTPBody: try sendBody(message, head)
            default: throw RPCError(.internal, "the upstream sent an invalid response: it is not a stream of Connect")
            }
        } catch {
            // An error of the upstream is known to the call.
            if head.status == 200 { undeliverable(error) } else { fail(error) }
        }
    }

    /// Sends what a `google.api.HttpBody` has, as it is.
    private func sendBody(_ message: JSONValue?, _ head: HTTPHead) throws(RPCError) {
        let body = try HTTPBody(message, orError: .internal)
        let (type, data) = (body.contentType, body.data)
        head.set(Self.contentType, type.span)
        finish(head, data.span)
    }

    func parsed(_ json: Span<UInt8>) throws(RPCError) -> JSONValue {
        do throws(JSONError) {
            return try worker.parsed(json)
        } catch {
            if error.isTooLarge { throw RPCError(.resourceExhausted, error.text) }
            throw RPCError(.internal, "the upstream sent an invalid response: it is not valid JSON")
        }
    }

    /// Whether the body is a message that is to be written in another form.
    private func hasMessage(_ head: HTTPHead) -> Bool {
        guard !binding.method.streams, let index = head.first(.contentType) else { return false }
        return head.value(at: index).isJSONType
    }

    /// The error that a body says, if it does.
    private func error(_ body: Span<UInt8>, status: Int) -> RPCError? {
        guard status != 200, body.count <= Self.maxError, let json = JSON.error(in: body),
            json["code"]?.string.flatMap({ RPCCode(name: $0) }) != nil
        else { return nil }
        let fallback = RPCCode(inferredFromStatus: status)
        var error = Outcome(.json(body.array, fallback: fallback, isEndStream: false)).error(trailers: HTTPHead())
        error?.httpStatus = status
        return error
    }

    /// As much of an error as is read.
    private static let maxError = 64 * 1024
}
