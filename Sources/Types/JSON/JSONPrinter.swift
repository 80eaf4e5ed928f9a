internal import Bytes
internal import RPC

/// Writes messages as ProtoJSON (protobuf.dev/programming-guides/json).
struct JSONPrinter {
    let types: TypeSet
    let form: JSONForm
    let arena: MessageArena
    let output: ByteQueue
    /// How long the output may become, in bytes.
    let limit: Int

    /// Writes a message, as a member of nothing or of what has no name.
    func write(_ message: Message, _ type: MessageType, _ depth: Int) throws(MessageError) {
        guard depth <= MessageError.maxDepth else { throw .depth }
        do throws(MessageError) {
            guard type.form == .fields else {
                arena.leftOut += message.unknownFields
                return try writeWellKnown(message, type, depth)
            }
            output.append("{")
            var isFirst = true
            try writeFields(message, type, depth, &isFirst)
            output.append("}")
        } catch {
            throw error.of(type)
        }
    }

    /// Writes the members of a message.
    func writeFields(
        _ message: Message,
        _ type: MessageType,
        _ depth: Int,
        _ isFirst: inout Bool
    ) throws(MessageError) {
        arena.leftOut += message.unknownFields
        for field in type.fields {
            guard let value = value(of: field, in: message) else { continue }
            try write(field, value, depth, &isFirst)
        }
        guard type.hasExtensions else { return }
        for (field, value) in message.extensions(type, types) { try write(field, value, depth, &isFirst) }
    }

    /// The value of a field, if it is to be written.
    private func value(of field: FieldType, in message: Message) -> Value? {
        if field.hasPresence { return message.has(field) ? message[field] : nil }
        let value = message[field]
        return form.writesDefaults || !value.isEmpty(field) ? value : nil
    }

    private func write(
        _ field: FieldType,
        _ value: Value,
        _ depth: Int,
        _ isFirst: inout Bool
    ) throws(MessageError) {
        if !isFirst { output.append(",") }
        isFirst = false
        output.append(form.keepsNames ? field.start : field.jsonStart)
        do throws(MessageError) {
            switch field.shape {
            case .single: try writeSingle(value, field, depth)
            case .list: try writeList(value, field, depth)
            case .map: try writeMap(value, field, depth)
            }
        } catch {
            throw error.within(form.keepsNames ? field.name : field.jsonName)
        }
        try checkSize()
    }

    func checkSize() throws(MessageError) {
        guard output.count <= limit else { throw MessageError("the JSON is too large", .tooLarge) }
    }

    private func writeList(_ value: Value, _ field: FieldType, _ depth: Int) throws(MessageError) {
        output.append("[")
        let list = value.list
        for index in 0..<(list?.count ?? 0) {
            if index > 0 { output.append(",") }
            do throws(MessageError) {
                try writeSingle(list![index], field, depth)
            } catch {
                throw error.within(String(index))
            }
            try checkSize()
        }
        output.append("]")
    }

    func writeMap(_ value: Value, _ field: FieldType, _ depth: Int) throws(MessageError) {
        let entry = field.messageType.fields
        output.append("{")
        if let map = value.map {
            for (index, item) in map.sorted(by: entry[0]).enumerated() {
                if index > 0 { output.append(",") }
                writeKey(item.key, entry[0])
                output.append(":")
                do throws(MessageError) {
                    // An entry is a message of its own in the wire format.
                    try writeSingle(item.value, entry[1], depth + 1)
                } catch {
                    throw error.within(item.key.keyText(entry[0]).shown)
                }
                try checkSize()
            }
        }
        output.append("}")
    }

    private func writeKey(_ key: Value, _ field: FieldType) {
        if field.kind == .string {
            let text = key.text
            return output.append(json: text.bytes)
        }
        output.append("\"")
        output.append(text: key.keyText(field))
        output.append("\"")
    }

    /// Writes one value.
    func writeSingle(_ value: Value, _ field: FieldType, _ depth: Int) throws(MessageError) {
        switch field.kind {
        case .double: write(double: value.double)
        case .float: write(float: value.float)
        case .int32, .sint32, .sfixed32: output.append(decimal: Int(value.int32))
        case .uint32, .fixed32: output.append(decimal: Int(value.uint32))
        case .int64, .sint64, .sfixed64: writeQuoted(value.int64)
        case .uint64, .fixed64: writeQuoted(value.uint64)
        case .bool: output.append(value.bool ? "true" : "false")
        case .string:
            let text = value.text
            output.append(json: text.bytes)
        case .bytes:
            let text = value.text
            output.append("\"")
            output.append(base64: text.bytes, padded: true)
            output.append("\"")
        case .enumeration: write(enumeration: value.int32, field)
        case .message, .group:
            guard let message = value.message else { fatalError("a message that is there has no memory") }
            try write(message, field.messageType, depth + 1)
        }
    }

    private func write(enumeration number: Int32, _ field: FieldType) {
        if field.isNull { return output.append("null") }
        guard !form.writesEnumNumbers, let name = field.name(ofValue: number) else {
            return output.append(decimal: Int(number))
        }
        output.append(json: name.bytes)
    }

    private func writeQuoted(_ value: some BinaryInteger) {
        output.append("\"")
        output.append(text: String(value))
        output.append("\"")
    }

    /// Writes the shortest number that reads as the same value.
    func write(double: Double) {
        guard double.isFinite else { return write(notFinite: double) }
        write(digits: double.description)
    }

    private func write(float: Float) {
        guard float.isFinite else { return write(notFinite: Double(float)) }
        write(digits: float.description)
    }

    private func write(digits: String) {
        // Some readers take -0 for an integer, which has no sign then.
        output.append(text: digits.hasSuffix(".0") && digits != "-0.0" ? String(digits.dropLast(2)) : digits)
    }

    private func write(notFinite value: Double) {
        output.append(value.isNaN ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"")
    }
}
