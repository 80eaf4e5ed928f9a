internal import Bytes

/// The well-known types that have a form of their own in JSON.
extension JSONParser {
    mutating func readWellKnown(
        into message: Message,
        _ type: MessageType,
        _ depth: Int
    ) throws(MessageError) {
        switch type.form {
        case .any: try readAny(into: message, type, depth)
        case .timestamp:
            let text = try readText(type)
            guard let time = TimestampText.read(text.bytes) else {
                throw MessageError("\"\(text.shown)\" is not a time as in RFC 3339")
            }
            try set(time, in: message, type)
        case .duration:
            let text = try readText(type)
            guard let time = DurationText.read(text.bytes) else {
                throw MessageError("\"\(text.shown)\" is not a duration, as 1.5s is")
            }
            try set(time, in: message, type)
        case .fieldMask: try readMask(into: message, type)
        case .structure: try readMap(type.fields[0], message.make(type.fields[0], in: arena).map, depth)
        case .list: try readList(type.fields[0], message.make(type.fields[0], in: arena).list, depth)
        case .value: try readValue(into: message, type, depth)
        case .wrapper:
            if let value = try readScalar(type.fields[0]) { try message.set(value, type.fields[0], in: arena) }
        case .fields: break
        }
    }

    private mutating func readText(_ type: MessageType) throws(MessageError) -> Text {
        guard try reader.peek() == UInt8(ascii: "\"") else {
            try reader.skip()
            throw MessageError("not a string")
        }
        return try reader.string()
    }

    private func set(
        _ time: SecondsAndNanos,
        in message: Message,
        _ type: MessageType
    ) throws(MessageError) {
        try message.set(Value(int64: time.seconds), type.fields[0], in: arena)
        try message.set(Value(int32: time.nanos), type.fields[1], in: arena)
    }

    private mutating func readMask(into message: Message, _ type: MessageType) throws(MessageError) {
        let text = try readText(type)
        let bytes = text.bytes
        guard bytes.count > 0 else { return }
        let list = try message.make(type.fields[0], in: arena).list
        var start = 0
        while start <= bytes.count {
            let end = bytes.firstIndex(of: UInt8(ascii: ","), from: start) ?? bytes.count
            guard let path = FieldMaskText.snakeCase(bytes.extracting(start..<end)) else {
                throw MessageError("\"\(text.shown)\" is not a list of paths in lowerCamelCase")
            }
            try list?.append(Value(text: arena.copy(path.span)), in: arena)
            start = end + 1
        }
    }

    /// Reads any JSON; the fields of Value are null, number, string, bool, struct and list.
    private mutating func readValue(
        into message: Message,
        _ type: MessageType,
        _ depth: Int
    ) throws(MessageError) {
        let fields = type.fields
        switch try reader.peek() {
        case UInt8(ascii: "{"):
            guard let inner = try message.make(fields[4], in: arena).message else { return }
            try read(into: inner, fields[4].messageType, depth + 1)
        case UInt8(ascii: "["):
            guard let inner = try message.make(fields[5], in: arena).message else { return }
            try read(into: inner, fields[5].messageType, depth + 1)
        case UInt8(ascii: "\""): try message.set(Value(text: reader.string()), fields[2], in: arena)
        case UInt8(ascii: "t"), UInt8(ascii: "f"):
            if let value = try readScalar(fields[3]) { try message.set(value, fields[3], in: arena) }
        case UInt8(ascii: "n"):
            guard try reader.read(word: "null") else { throw reader.unexpected() }
            try message.set(Value(int32: 0), fields[0], in: arena)
        default:
            let number = try reader.number()
            try message.set(JSONScalar.number(number, fields[1], isQuoted: false), fields[1], in: arena)
        }
    }

    /// Reads an Any: an object with the URL of the type as `@type`, at any place in it.
    private mutating func readAny(
        into message: Message,
        _ type: MessageType,
        _ depth: Int
    ) throws(MessageError) {
        try reader.expect(UInt8(ascii: "{"))
        let start = reader.position
        guard let url = try findType(depth) else { return }
        let inner = try AnyURL.type(url.bytes, types)
        let content = try Message(inner, in: arena)
        reader.position = start
        do throws(MessageError) {
            guard depth < MessageError.maxDepth else { throw MessageError.depth }
            if inner.form == .fields {
                try readMembers(into: content, inner, depth + 1, hasType: true)
            } else {
                try readContent(into: content, inner, depth + 1)
            }
        } catch {
            throw error.of(inner)
        }
        try MessageWire.checkRequired(content, inner, types)
        let written = ByteQueue()
        try MessageWire.write(content, inner, arena, limit: .max, into: written)
        try message.set(Value(text: url), type.fields[0], in: arena)
        try message.set(Value(text: arena.copy(written.readable)), type.fields[1], in: arena)
    }

    /// Reads the members of an object up to its `@type`; none for an object without members.
    private mutating func findType(_ depth: Int) throws(MessageError) -> Text? {
        let start = reader.position
        var isFirst = true
        while try reader.hasMore(before: UInt8(ascii: "}"), isFirst: isFirst) {
            isFirst = false
            let isType = try reader.name().bytes.equals("@type")
            if isType, try reader.peek() == UInt8(ascii: "\"") {
                // An Any in an Any in an Any, each with its type at the end, would be read as many times.
                reread += reader.position - start
                guard reread <= 4 * reader.count else { throw MessageError("\"@type\" has to come first here") }
                return try reader.string()
            }
            try reader.skip(depth)
        }
        guard isFirst else { throw MessageError("an Any has no \"@type\"") }
        return nil
    }

    /// Reads the `value` of an Any whose type has a form of its own.
    private mutating func readContent(
        into content: Message,
        _ type: MessageType,
        _ depth: Int
    ) throws(MessageError) {
        var (isFirst, hasType, hasValue) = (true, false, false)
        while try reader.hasMore(before: UInt8(ascii: "}"), isFirst: isFirst) {
            isFirst = false
            let name = try reader.name()
            if name.bytes.equals("@type"), !hasType {
                hasType = true
                try reader.skip()
            } else if name.bytes.equals("value"), !hasValue {
                hasValue = true
                try read(into: content, type, depth)
            } else {
                let isTwice = name.bytes.equals("value") || name.bytes.equals("@type")
                guard dropsUnknown, !isTwice else {
                    throw MessageError("no field \"\(name.shown)\"")
                }
                arena.leftOut += 1
                try reader.skip(depth)
            }
        }
        guard hasValue else { throw MessageError("an Any of this type has no \"value\"") }
    }
}
