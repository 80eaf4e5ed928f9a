internal import Bytes
internal import RPC

/// Reads ProtoJSON (protobuf.dev/programming-guides/json) into messages, strictly.
///
/// A member that comes twice is an error, by whichever of its names; a number is exact or an error.
struct JSONParser: ~Escapable {
    let types: TypeSet
    let arena: MessageArena
    /// Whether members that no field has are left out, and not an error.
    let dropsUnknown: Bool
    var reader: JSONReader
    /// How many bytes have been read twice, to find the type of an Any.
    var reread = 0

    @_lifetime(copy reader)
    init(_ reader: consuming JSONReader, _ types: TypeSet, _ arena: MessageArena, dropsUnknown: Bool) {
        self.reader = reader
        self.types = types
        self.arena = arena
        self.dropsUnknown = dropsUnknown
    }

    /// Reads the value of a message that is itself `depth` deep.
    mutating func read(
        into message: Message,
        _ type: MessageType,
        _ depth: Int
    ) throws(MessageError) {
        guard depth <= MessageError.maxDepth else { throw .depth }
        do throws(MessageError) {
            guard type.form == .fields else { return try readWellKnown(into: message, type, depth) }
            try reader.open(UInt8(ascii: "{"), "an object")
            try readMembers(into: message, type, depth)
        } catch {
            throw error.of(type)
        }
    }

    /// Reads the members of an object and the brace behind them.
    mutating func readMembers(
        into message: Message,
        _ type: MessageType,
        _ depth: Int,
        hasType: Bool = false
    ) throws(MessageError) {
        var seen = SeenFields()
        var (isFirst, hasType) = (true, hasType)
        while try reader.hasMore(before: UInt8(ascii: "}"), isFirst: isFirst) {
            isFirst = false
            let name = try reader.name()
            if hasType, name.bytes.equals("@type") {
                hasType = false
                try reader.skip()
                continue
            }
            guard let field = field(name.bytes, type) else {
                guard dropsUnknown, !name.bytes.equals("@type") else {
                    throw MessageError("no field \"\(name.shown)\"")
                }
                arena.leftOut += 1
                try reader.skip(depth)
                continue
            }
            do throws(MessageError) {
                guard seen.insert(field) else { throw MessageError("the field comes twice") }
                try readField(field, of: message, depth, &seen)
            } catch {
                throw error.of(type).within(name.shown)
            }
        }
    }

    private func field(_ name: Span<UInt8>, _ type: MessageType) -> FieldType? {
        if let place = type.place(of: name) { return type.fields[place] }
        guard type.hasExtensions, name.count > 2, name[0] == UInt8(ascii: "["),
            name[name.count - 1] == UInt8(ascii: "]"),
            let field = types.extensionField(named: name.extracting(1..<name.count - 1)),
            field.isExtension(of: type)
        else { return nil }
        return field
    }

    private mutating func readField(
        _ field: FieldType,
        of message: Message,
        _ depth: Int,
        _ seen: inout SeenFields
    ) throws(MessageError) {
        if try reader.peek() == UInt8(ascii: "n"), field.shape != .single || !field.takesNull {
            guard try reader.read(word: "null") else { throw reader.unexpected() }
            return
        }
        if let oneof = unsafe field.oneof {
            guard unsafe seen.insert(oneof: oneof) else {
                throw MessageError("another field of the same oneof is there already")
            }
        }
        try readValue(of: field, message, depth)
    }

    /// Reads the value of a field, which is not null.
    mutating func readValue(of field: FieldType, _ message: Message, _ depth: Int) throws(MessageError) {
        switch field.shape {
        case .single: try readSingle(field, of: message, depth)
        case .list: try readList(field, message.make(field, in: arena).list, depth)
        case .map: try readMap(field, message.make(field, in: arena).map, depth)
        }
    }

    private mutating func readSingle(
        _ field: FieldType,
        of message: Message,
        _ depth: Int
    ) throws(MessageError) {
        if field.isMessage {
            guard let inner = try message.make(field, in: arena).message else { return }
            return try read(into: inner, field.messageType, depth + 1)
        }
        if let value = try readScalar(field) { try message.set(value, field, in: arena) }
    }

    /// Reads an array.
    mutating func readList(
        _ field: FieldType,
        _ list: List?,
        _ depth: Int
    ) throws(MessageError) {
        try reader.open(UInt8(ascii: "["), "a list")
        var index = 0
        while try reader.hasMore(before: UInt8(ascii: "]"), isFirst: index == 0) {
            do throws(MessageError) {
                if let value = try readElement(field, depth) { try list?.append(value, in: arena) }
            } catch {
                throw error.within(String(index))
            }
            index += 1
        }
    }

    /// Reads a value that a list or a map has; none if it is to be left out.
    mutating func readElement(_ field: FieldType, _ depth: Int) throws(MessageError) -> Value? {
        if try reader.peek() == UInt8(ascii: "n"), !field.takesNull { throw MessageError("null is not a value here") }
        guard field.isMessage else { return try readScalar(field) }
        let inner = try Message(field.messageType, in: arena)
        try read(into: inner, field.messageType, depth + 1)
        return Value(message: inner)
    }

    /// Reads an object whose names are keys.
    mutating func readMap(
        _ field: FieldType,
        _ map: Map?,
        _ depth: Int
    ) throws(MessageError) {
        let entry = field.messageType.fields
        try reader.open(UInt8(ascii: "{"), "an object")
        var isFirst = true
        // Keys whose values were left out are in no map.
        var dropped: Set<String> = []
        while try reader.hasMore(before: UInt8(ascii: "}"), isFirst: isFirst) {
            isFirst = false
            let name = try reader.name()
            do throws(MessageError) {
                let key = try JSONScalar.key(name, entry[0])
                if let map, map[key] != nil || dropped.contains(name.string) {
                    throw MessageError("the key comes twice")
                }
                // An entry is a message of its own in the wire format.
                guard let value = try readElement(entry[1], depth + 1) else {
                    dropped.insert(name.string)
                    continue
                }
                try map?.insert(value, for: key, in: arena)
            } catch {
                throw error.within(name.shown)
            }
        }
    }

    /// Reads a value that is no message; none for the name of an unknown value of an enumeration if unknown names are left out.
    mutating func readScalar(_ field: FieldType) throws(MessageError) -> Value? {
        let first = try reader.peek()
        switch field.kind {
        case .bool:
            if try reader.read(word: "true") { return Value(bool: true) }
            if try reader.read(word: "false") { return Value(bool: false) }
        case .string where first == UInt8(ascii: "\""): return Value(text: try reader.string())
        case .bytes where first == UInt8(ascii: "\""):
            let text = try reader.string()
            guard let bytes = Base64.decode(text.bytes) else { throw MessageError("not base64") }
            return Value(text: try arena.copy(bytes.span))
        case .enumeration:
            if field.isNull, try reader.read(word: "null") { return Value(int32: 0) }
            return try readEnumeration(field, first)
        case .string, .bytes, .message, .group: break
        default:
            if first == UInt8(ascii: "\"") {
                let text = try reader.string()
                return try JSONScalar.number(text, field, isQuoted: true)
            }
            let isNumber = first == UInt8(ascii: "-") || 0x30...0x39 ~= first
            if isNumber { return try JSONScalar.number(try reader.number(), field, isQuoted: false) }
        }
        // What stands here may not be JSON at all, which is then the better error.
        try reader.skip()
        throw MessageError("not a value of the type \(JSONScalar.name(of: field))")
    }

    private mutating func readEnumeration(_ field: FieldType, _ first: UInt8) throws(MessageError) -> Value? {
        guard first == UInt8(ascii: "\"") else {
            let isNumber = first == UInt8(ascii: "-") || 0x30...0x39 ~= first
            guard isNumber else {
                try reader.skip()
                throw MessageError("not a value of the type \(JSONScalar.name(of: field))")
            }
            return try JSONScalar.number(try reader.number(), field, isQuoted: false)
        }
        let text = try reader.string()
        if let number = field.number(ofValue: text) { return Value(int32: number) }
        if dropsUnknown {
            arena.leftOut += 1
            return nil
        }
        throw MessageError("\"\(text.shown)\" is not a value of the type \(JSONScalar.name(of: field))")
    }
}

/// Which fields of a message have been read.
@safe
private struct SeenFields {
    private var few: UInt64 = 0
    private var more: [UnsafeRawPointer] = unsafe []

    /// Notes a field; false if it was noted before.
    mutating func insert(_ field: FieldType) -> Bool {
        guard field.index < 64, !field.name.utf8.starts(with: "[".utf8) else {
            return unsafe insert(oneof: field.definition)
        }
        let bit: UInt64 = 1 << UInt64(field.index)
        defer { few |= bit }
        return few & bit == 0
    }

    /// Notes that a field of a oneof is there; false if there was one.
    mutating func insert(oneof: UnsafeRawPointer) -> Bool {
        if unsafe more.contains(oneof) { return false }
        unsafe more.append(oneof)
        return true
    }
}
