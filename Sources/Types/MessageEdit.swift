internal import Bytes

/// A change of one place in a message.
public struct MessageEdit: Sendable, Equatable {
    /// The names of fields, the keys of maps and the indices of lists on the way, as in a JSON Pointer (RFC 6901) without escapes.
    public let tokens: [String]
    /// The new value in JSON; none removes what is there.
    public let json: [UInt8]?

    /// Describes a change.
    public init(_ tokens: [String], json: [UInt8]?) {
        self.tokens = tokens
        self.json = json
    }
}

/// Makes changes in messages, in which fields that their types do not have stay.
struct MessageEditor {
    /// The meaning of the names on the way to a change.
    enum Naming {
        /// Places in JSON: a value with a JSON form of its own changes as a whole, and a member of a oneof replaces another.
        case json
        /// Fields, as the parameters of a request have them: those of well-known types too, and one member of a oneof.
        case fields
    }

    let types: TypeSet
    let arena: MessageArena
    var naming = Naming.json
    /// Whether members of new values that no field has are left out, and not an error.
    var dropsUnknown = false
    private static let null = Array("null".utf8)

    /// Makes a change in a message that is itself `depth` deep; a removal of what is not there changes nothing.
    func apply(
        _ json: [UInt8]?,
        at tokens: ArraySlice<String>,
        _ message: Message,
        _ type: MessageType,
        _ depth: Int
    ) throws(MessageError) {
        guard let token = tokens.first else { return }
        let name = Array(token.utf8)
        guard let field = type.place(of: name.span).map({ type.fields[$0] }) else {
            if json == nil { return }
            throw MessageError("no field \"\(token.shown)\"").of(type)
        }
        if naming == .fields, json != nil { try checkOneof(of: field, in: message, type) }
        let rest = tokens.dropFirst()
        do throws(MessageError) {
            guard !rest.isEmpty else { return try set(json, field, message, type, depth) }
            try descend(json, at: rest, message, field, depth)
        } catch {
            throw error.of(type).within(token.shown)
        }
    }

    /// Throws an error if another field of the same oneof has a value, which the new one would replace.
    private func checkOneof(of field: FieldType, in message: Message, _ type: MessageType) throws(MessageError) {
        let others = type.fields.lazy.filter { $0.number != field.number && $0.isAlternative(to: field) }
        guard let other = others.first(where: { message.has($0) }) else { return }
        throw MessageError("\(other.name) and \(field.name) are of one oneof; send one of them").of(type)
    }

    /// Gives a field another value, or none.
    private func set(
        _ json: [UInt8]?,
        _ field: FieldType,
        _ message: Message,
        _ type: MessageType,
        _ depth: Int
    ) throws(MessageError) {
        message.clear(field)
        guard let json, json != Self.null || field.takesNull else { return }
        for other in type.fields where other.isAlternative(to: field) { message.clear(other) }
        try read(json) { parser throws(MessageError) in try parser.readValue(of: field, message, depth) }
    }

    /// Reads a value, which is good until the arena is emptied: the JSON itself may not be.
    private func read<Result>(
        _ json: [UInt8],
        _ body: (inout JSONParser) throws(MessageError) -> Result
    ) throws(MessageError) -> Result {
        let text = try arena.copy(json.span)
        var parser = JSONParser(try JSONReader(text.bytes, arena), types, arena, dropsUnknown: dropsUnknown)
        let result = try body(&parser)
        try parser.reader.finish()
        return result
    }

    private func descend(
        _ json: [UInt8]?,
        at tokens: ArraySlice<String>,
        _ message: Message,
        _ field: FieldType,
        _ depth: Int
    ) throws(MessageError) {
        switch field.shape {
        case .list: try change(message[field].list, json, at: tokens, field, depth)
        case .map: try change(message, json, at: tokens, mapOf: field, depth)
        case .single:
            if json == nil, !message.has(field) { return }
            let inner = field.isMessage ? try message.make(field, in: arena).message : nil
            try change(inner, json, at: tokens, field, depth)
        }
    }

    /// Makes a change within a value.
    private func change(
        _ message: Message?,
        _ json: [UInt8]?,
        at tokens: ArraySlice<String>,
        _ field: FieldType,
        _ depth: Int
    ) throws(MessageError) {
        guard let message, naming == .fields || field.messageType.form == .fields else {
            if json == nil, message == nil { return }
            throw MessageError("a value of the type \(JSONScalar.name(of: field)) can only be changed as a whole")
        }
        try apply(json, at: tokens, message, field.messageType, depth + 1)
    }

    private func change(
        _ list: List?,
        _ json: [UInt8]?,
        at tokens: ArraySlice<String>,
        _ field: FieldType,
        _ depth: Int
    ) throws(MessageError) {
        guard let list, let token = tokens.first else { return }
        let rest = tokens.dropFirst()
        // From behind, so that what is removed moves nothing that is still to come.
        for index in (0..<list.count).reversed() where token == "*" || token == String(index) {
            if !rest.isEmpty {
                try change(list[index].message, json, at: rest, field, depth)
            } else if let json {
                let value = try read(json) { parser throws(MessageError) in try parser.readElement(field, depth) }
                if let value { list.set(value, at: index) }
            } else {
                list.remove(at: index)
            }
        }
    }

    private func change(
        _ message: Message,
        _ json: [UInt8]?,
        at tokens: ArraySlice<String>,
        mapOf field: FieldType,
        _ depth: Int
    ) throws(MessageError) {
        guard let token = tokens.first else { return }
        let (entry, rest) = (field.messageType.fields, tokens.dropFirst())
        let keys =
            token == "*"
            ? message[field].map?.sorted(by: entry[0]).map(\.key) ?? []
            : [try JSONScalar.key(arena.copy(Array(token.utf8).span), entry[0])]
        for key in keys {
            let map = message[field].map
            if !rest.isEmpty {
                guard let value = map?[key] else { continue }
                try change(entry[1].isMessage ? value.message : nil, json, at: rest, entry[1], depth + 1)
            } else if let json {
                let value = try read(json) { parser throws(MessageError) in try parser.readElement(entry[1], depth + 1)
                }
                if let value { try message.make(field, in: arena).map?.insert(value, for: key, in: arena) }
            } else {
                map?.remove(key)
            }
        }
    }
}
