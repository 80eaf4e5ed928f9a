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
    let types: TypeSet
    let arena: MessageArena
    let dropsUnknown: Bool

    /// Makes a change in a message that is itself `depth` deep; one that has no place for it stays as it is.
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
        let rest = tokens.dropFirst()
        do throws(MessageError) {
            guard !rest.isEmpty else { return try set(json, field, message, type, depth) }
            try descend(json, at: rest, message, field, depth)
        } catch {
            throw error.of(type).within(token.shown)
        }
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
        guard let json else { return }
        for other in type.fields where other.isAlternative(to: field) { message.clear(other) }
        // What is read is good until the arena is emptied, which the JSON may not be.
        let text = try arena.copy(json.span)
        let bytes = text.bytes
        var parser = JSONParser(try JSONReader(bytes, arena), types, arena, dropsUnknown: dropsUnknown)
        try parser.readValue(of: field, message, depth)
        try parser.reader.finish()
    }

    private func descend(
        _ json: [UInt8]?,
        at tokens: ArraySlice<String>,
        _ message: Message,
        _ field: FieldType,
        _ depth: Int
    ) throws(MessageError) {
        guard field.isMessage, field.shape != .map, field.messageType.form == .fields else {
            throw MessageError("nothing can be changed in a value of the type \(JSONScalar.name(of: field))")
        }
        guard field.shape == .list else {
            if json == nil, !message.has(field) { return }
            guard let inner = try message.make(field, in: arena).message else { return }
            return try apply(json, at: tokens, inner, field.messageType, depth + 1)
        }
        let list = message[field].list
        for index in 0..<(list?.count ?? 0) where tokens.first == "*" || tokens.first == String(index) {
            guard let inner = list?[index].message else { continue }
            try apply(json, at: tokens.dropFirst(), inner, field.messageType, depth + 1)
        }
    }
}
