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

    /// Appends the JSON that ends a Connect stream with `error`.
    func append(endStream error: RPCError) {
        append(endStream: .made(error), error.metadata.fields)
    }

    /// Appends the JSON that ends a Connect stream; values of one name stand together.
    func append(endStream error: CallerSide.EndError?, _ metadata: [(name: [UInt8], value: [UInt8])]) {
        append("{")
        if let error {
            append("\"error\":")
            switch error {
            case .made(let error): append(json: error)
            case .arrived(let json): append(json)
            }
            if !metadata.isEmpty { append(",") }
        }
        if !metadata.isEmpty {
            append("\"metadata\":{")
            append(jsonMembers: metadata)
            append("}")
        }
        append("}")
    }

    private func append(json detail: ErrorDetail) {
        append("{\"type\":")
        append(json: detail.type)
        append(",\"value\":\"")
        append(base64: detail.value.span)
        append("\"}")
    }

    private func append(jsonMembers metadata: [(name: [UInt8], value: [UInt8])]) {
        var values: [[UInt8]: [Int]] = [:]
        for (index, entry) in metadata.enumerated() { values[entry.name, default: []].append(index) }
        var isFirst = true
        for entry in metadata {
            guard let indexes = values.removeValue(forKey: entry.name) else { continue }
            if !isFirst { append(byte: UInt8(ascii: ",")) }
            isFirst = false
            append(json: entry.name.span)
            for (place, index) in indexes.enumerated() {
                append(place == 0 ? ":[" : ",")
                let value = metadata[index].value
                append(json: value.span)
            }
            append(byte: UInt8(ascii: "]"))
        }
    }
}
