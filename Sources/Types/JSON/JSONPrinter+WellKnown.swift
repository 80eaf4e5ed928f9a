internal import Bytes

/// The well-known types that have a form of their own in JSON.
extension JSONPrinter {
    func writeWellKnown(_ message: Message, _ type: MessageType, _ depth: Int) throws(MessageError) {
        switch type.form {
        case .any: try writeAny(message, type, depth)
        case .timestamp:
            let time = SecondsAndNanos(message, type)
            guard let text = TimestampText.text(time) else {
                throw MessageError("the time is not between the years 1 and 9999")
            }
            output.append(json: text)
        case .duration:
            let time = SecondsAndNanos(message, type)
            guard let text = DurationText.text(time) else { throw MessageError("the duration is out of range") }
            output.append(json: text)
        case .fieldMask: try writeMask(message, type)
        case .structure: try writeMap(value(1, of: message, type), type.fields[0], depth)
        case .list: try writeElements(message, type, depth)
        case .value: try writeValue(message, type, depth)
        case .wrapper: try writeSingle(value(1, of: message, type), type.fields[0], depth)
        case .fields: break
        }
    }

    /// The value of a field; those of well-known types are numbered from one on.
    private func value(_ number: Int, of message: Message, _ type: MessageType) -> Value {
        message[type.fields[number - 1]]
    }

    private func writeElements(_ message: Message, _ type: MessageType, _ depth: Int) throws(MessageError) {
        output.append("[")
        if let list = value(1, of: message, type).list {
            for index in 0..<list.count {
                if index > 0 { output.append(",") }
                try writeSingle(list[index], type.fields[0], depth)
                try checkSize()
            }
        }
        output.append("]")
    }

    private func writeValue(_ message: Message, _ type: MessageType, _ depth: Int) throws(MessageError) {
        guard let field = type.fields.first(where: { message.has($0) }) else { return output.append("null") }
        let value = message[field]
        if field.kind == .double, !value.double.isFinite {
            throw MessageError("JSON has no number for \(value.double)")
        }
        try writeSingle(value, field, depth)
    }

    private func writeMask(_ message: Message, _ type: MessageType) throws(MessageError) {
        output.append("\"")
        if let list = value(1, of: message, type).list {
            for index in 0..<list.count {
                let path = list[index].text
                guard let text = FieldMaskText.lowerCamelCase(path.bytes) else {
                    let problem = "JSON has no text for the path \"\(path.shown)\""
                    throw MessageError("\(problem), which is not in lower_snake_case")
                }
                if index > 0 { output.append(",") }
                output.append(text)
            }
        }
        output.append("\"")
    }

    private func writeAny(_ message: Message, _ type: MessageType, _ depth: Int) throws(MessageError) {
        let (url, bytes) = (value(1, of: message, type).text, value(2, of: message, type).text)
        let name = url.bytes
        guard name.count > 0 || bytes.bytes.count > 0 else { return output.append("{}") }
        let inner = try AnyURL.type(name, types)
        let content = try Message(inner, in: arena)
        try MessageWire.read(bytes.bytes, into: content, inner, types, arena, depth + 1)
        try MessageWire.checkRequired(content, inner, types)
        output.append("{\"@type\":")
        output.append(json: name)
        var isFirst = false
        do throws(MessageError) {
            if inner.form == .fields {
                try writeFields(content, inner, depth + 1, &isFirst)
            } else {
                output.append(",\"value\":")
                try write(content, inner, depth + 1)
            }
        } catch {
            throw error.of(inner)
        }
        output.append("}")
    }
}

/// The URL of an Any.
enum AnyURL {
    /// The type that is named behind the last slash.
    static func type(_ url: Span<UInt8>, _ types: TypeSet) throws(MessageError) -> MessageType {
        var start = url.count
        while start > 0, url[start - 1] != UInt8(ascii: "/") { start -= 1 }
        guard start > 0 else { throw MessageError("\"\(url.shown)\" is not the URL of a type") }
        guard let type = types.message(named: url.extracting(start...)) else {
            throw MessageError("the type \(url.extracting(start...).shown) is not known")
        }
        return type
    }
}
