public import Bytes

extension MessageCodec {
    /// Appends the JSON of a message that is meant by JSON, and by values for some of its fields, if there are any.
    ///
    /// - Parameters:
    ///   - text: the JSON; nothing is the empty message.
    ///   - fixed: values that count, and that the JSON may not contradict.
    ///   - edits: other changes, which are made before.
    ///   - type: the type of the message, one of `types`.
    ///   - types: the types that it may have in an Any, and its extensions.
    ///   - form: the form of the result.
    ///   - dropsUnknown: whether members that no field has are left out, and not an error.
    ///   - limit: the bytes that the JSON, the message and the result may have.
    ///   - output: where the result goes.
    /// - Throws: an error for what is not JSON, for what the type does not have, for a contradiction, and for what is too large.
    public func appendJSON(
        merging text: Span<UInt8>,
        fixed: [MessageEdit] = [],
        edits: [MessageEdit] = [],
        _ type: MessageType,
        _ types: TypeSet,
        _ form: JSONForm = JSONForm(),
        dropsUnknown: Bool,
        limit: Int,
        to output: ByteQueue
    ) throws(MessageError) {
        try withArena(limit: limit) { arena throws(MessageError) in
            let message = try Message(type, in: arena)
            if !text.isEmpty {
                var parser = JSONParser(try JSONReader(text, arena), types, arena, dropsUnknown: dropsUnknown)
                try parser.read(into: message, type, 1)
                try parser.reader.finish()
            }
            let editor = MessageEditor(types: types, arena: arena, naming: .fields, dropsUnknown: dropsUnknown)
            for edit in edits { try editor.apply(edit.json, at: edit.tokens[...], message, type, 1) }
            for edit in fixed { try fix(edit, message, type, editor, limit) }
            try MessageWire.checkRequired(message, type, types)
            let end = output.count + min(limit, .max / 2)
            let printer = JSONPrinter(types: types, form: form, arena: arena, output: output, limit: end)
            try printer.write(message, type, 1)
            try printer.checkSize()
            unknownFields = arena.leftOut
        }
    }

    /// Gives a field a value, unless it has another.
    private func fix(
        _ edit: MessageEdit,
        _ message: Message,
        _ type: MessageType,
        _ editor: MessageEditor,
        _ limit: Int
    ) throws(MessageError) {
        let (before, without, after) = (ByteQueue(), ByteQueue(), ByteQueue())
        try MessageWire.write(message, type, editor.arena, limit: limit, into: before)
        try editor.apply(nil, at: edit.tokens[...], message, type, 1)
        try MessageWire.write(message, type, editor.arena, limit: limit, into: without)
        try editor.apply(edit.json, at: edit.tokens[...], message, type, 1)
        guard !before.readable.equals(without.readable) else { return }
        try MessageWire.write(message, type, editor.arena, limit: limit, into: after)
        guard before.readable.equals(after.readable) else {
            throw MessageError("the body has another value of \(edit.tokens.joined(separator: ".")) than the path")
        }
    }
}
