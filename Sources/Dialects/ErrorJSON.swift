internal import Bytes
internal import RPC

extension ByteQueue {
    /// Appends `error` as the JSON object Connect has for it: code, message, details.
    func append(json error: RPCError) {
        append("{\"code\":\"")
        append(error.code.name)
        append(byte: UInt8(ascii: "\""))
        if !error.message.isEmpty {
            append(",\"message\":")
            append(json: error.message)
        }
        if !error.details.isEmpty {
            append(",\"details\":[")
            for (index, detail) in error.details.enumerated() {
                if index > 0 { append(byte: UInt8(ascii: ",")) }
                append(json: detail)
            }
            append(byte: UInt8(ascii: "]"))
        }
        append(byte: UInt8(ascii: "}"))
    }

    /// Appends the JSON that ends a Connect stream with `error`; values of one name stand together.
    func append(endStream error: RPCError) {
        append("{\"error\":")
        append(json: error)
        if !error.metadata.isEmpty {
            append(",\"metadata\":{")
            append(jsonMembers: error.metadata)
            append(byte: UInt8(ascii: "}"))
        }
        append(byte: UInt8(ascii: "}"))
    }

    private func append(json detail: ErrorDetail) {
        append("{\"type\":")
        append(json: detail.type)
        append(",\"value\":\"")
        append(base64: detail.value.span)
        append("\"}")
    }

    private func append(jsonMembers metadata: [(name: String, value: String)]) {
        var rest = metadata[...]
        while let name = rest.first?.name {
            if rest.count < metadata.count { append(byte: UInt8(ascii: ",")) }
            append(json: name)
            for (index, entry) in rest.filter({ $0.name == name }).enumerated() {
                append(index == 0 ? ":[" : ",")
                append(json: entry.value)
            }
            append(byte: UInt8(ascii: "]"))
            rest.removeAll { $0.name == name }
        }
    }
}
