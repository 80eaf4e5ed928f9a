internal import Bytes
internal import RPC
internal import Types

extension ByteQueue {
    /// Appends an error as the JSON of `google.rpc.Status`.
    ///
    /// A detail whose type is unknown, or that is no such message, is there in base64, so that none is lost.
    ///
    /// - Parameters:
    ///   - error: the error.
    ///   - types: the types that details may have.
    ///   - codec: reads the details.
    ///   - limit: the most bytes that the JSON of one may have.
    func append(status error: RPCError, _ types: KnownTypes?, _ codec: MessageCodec, limit: Int) {
        append("{\"code\":")
        append(decimal: Int(error.code.rawValue))
        append(",\"message\":")
        append(json: error.message)
        if !error.details.isEmpty {
            append(",\"details\":[")
            for (index, detail) in error.details.enumerated() {
                if index > 0 { append(",") }
                append(detail, types, codec, limit)
            }
            append("]")
        }
        append("}")
    }

    private func append(_ detail: ErrorDetail, _ types: KnownTypes?, _ codec: MessageCodec, _ limit: Int) {
        append("{\"@type\":")
        append(json: "type.googleapis.com/" + detail.type)
        let json = ByteQueue()
        let form = types?.form ?? JSONForm()
        if let (type, types) = ErrorDetailTypes.type(named: detail.type, in: types?.set),
            (try? codec.appendJSON(of: detail.value.span, type, types, form, limit: limit, to: json)) != nil
        {
            append(json, isObject: !type.hasOwnJSON)
        } else {
            append(",\"value\":\"")
            append(base64: detail.value.span, padded: true)
            append("\"}")
        }
    }

    /// Appends the members of an object, or a member with another value, and the brace.
    private func append(_ json: ByteQueue, isObject: Bool) {
        guard isObject else {
            append(",\"value\":")
            append(json.readable)
            return append("}")
        }
        if json.count > 2 { append(",") }
        append(json.readable.extracting(1..<json.count))
    }
}
