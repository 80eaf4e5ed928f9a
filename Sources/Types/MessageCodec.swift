public import Bytes

/// Turns messages from the wire format of Protobuf into ProtoJSON and back; belongs to one thread.
///
/// The memory of a conversion is bounded by the size that the message may have, and by the room that there is.
public final class MessageCodec {
    /// The memory of a message, for each byte that it may have.
    private static let expansion = 8

    private let arena = MessageArena(limit: 0)
    /// How many fields the message that was converted last had that its type does not have, and that the result lacks therefore.
    public internal(set) var unknownFields = 0

    private let room: () -> Int

    /// Makes a codec.
    ///
    /// - Parameter room: Returns the maximum number of bytes that a message may take meanwhile.
    public init(room: @escaping () -> Int = { .max }) { self.room = room }

    /// Appends the JSON of a message, which has no place for fields that its type does not have.
    ///
    /// - Parameters:
    ///   - message: the message in the wire format.
    ///   - type: its type, one of `types`.
    ///   - types: the types that it may have in an Any, and its extensions.
    ///   - form: how it is written.
    ///   - limit: the most bytes that the message and its JSON may have.
    ///   - output: where the JSON goes; after an error, a part of it may be there.
    /// - Throws: an error for bytes that are no such message, for what JSON cannot say, and for what is too large.
    public func appendJSON(
        of message: Span<UInt8>,
        _ type: MessageType,
        _ types: TypeSet,
        _ form: JSONForm = JSONForm(),
        limit: Int,
        to output: ByteQueue
    ) throws(MessageError) {
        defer { arena.empty() }
        arena.setLimit(memory(limit))
        let read = try Message(type, in: arena)
        try MessageWire.read(message, into: read, type, types, arena, 1)
        try MessageWire.checkRequired(read, type, types)
        let printer = JSONPrinter(
            types: types,
            form: form,
            arena: arena,
            output: output,
            limit: output.count + min(limit, .max / 2)
        )
        try printer.write(read, type, 1)
        try printer.checkSize()
        unknownFields = arena.leftOut
    }

    /// Appends the message that is meant by JSON.
    ///
    /// - Parameters:
    ///   - text: the JSON.
    ///   - type: the type of the message, one of `types`.
    ///   - types: the types that it may have in an Any, and its extensions.
    ///   - dropsUnknown: whether members that no field has are left out, and not an error.
    ///   - limit: the most bytes that the JSON and the message may have.
    ///   - output: where the message goes in the wire format, if there is no error.
    /// - Throws: an error for what is not JSON, for what the type does not have, and for what is too large.
    public func appendMessage(
        ofJSON text: Span<UInt8>,
        _ type: MessageType,
        _ types: TypeSet,
        dropsUnknown: Bool = false,
        limit: Int,
        to output: ByteQueue
    ) throws(MessageError) {
        defer { arena.empty() }
        arena.setLimit(memory(limit))
        let message = try Message(type, in: arena)
        var parser = JSONParser(try JSONReader(text, arena), types, arena, dropsUnknown: dropsUnknown)
        try parser.read(into: message, type, 1)
        try parser.reader.finish()
        try MessageWire.checkRequired(message, type, types)
        try MessageWire.write(message, type, arena, limit: limit, into: output)
        unknownFields = arena.leftOut
    }

    /// Appends a message with changes, in which fields that its type does not have stay.
    ///
    /// - Parameters:
    ///   - message: the message in the wire format.
    ///   - edits: the changes, in their order.
    ///   - type: its type, one of `types`.
    ///   - types: the types that it may have in an Any, and its extensions.
    ///   - limit: the most bytes that the message may have.
    ///   - output: where it goes, if there is no error.
    /// - Throws: an error for bytes that are no such message, and for values that have no place in it.
    public func appendMessage(
        _ message: Span<UInt8>,
        changedBy edits: [MessageEdit],
        _ type: MessageType,
        _ types: TypeSet,
        limit: Int,
        to output: ByteQueue
    ) throws(MessageError) {
        defer { arena.empty() }
        arena.setLimit(memory(limit))
        let read = try Message(type, in: arena)
        try MessageWire.read(message, into: read, type, types, arena, 1)
        let editor = MessageEditor(types: types, arena: arena)
        for edit in edits { try editor.apply(edit.json, at: edit.tokens[...], read, type, 1) }
        try MessageWire.checkRequired(read, type, types)
        try MessageWire.write(read, type, arena, limit: limit, into: output)
    }

    /// Does something with an arena for a message of `limit` bytes, which is empty before and after.
    func withArena(
        limit: Int,
        _ body: (MessageArena) throws(MessageError) -> Void
    ) throws(MessageError) {
        defer { arena.empty() }
        arena.setLimit(memory(limit))
        try body(arena)
    }

    /// Even a small message needs its tables.
    private func memory(_ limit: Int) -> Int {
        max(64 * 1024, min(min(limit, .max / 16) * Self.expansion, room()))
    }
}
