internal import Bytes
internal import Documents
internal import Protocols
internal import Types

/// The way in which messages of one direction of a call are read as JSON: the same on every thread.
struct MessageReading: Sendable {
    /// The type of the messages.
    struct Typed: Sendable {
        let type: MessageType
        let types: TypeSet
        /// Whether the messages are in JSON, and not in Protobuf.
        let isJSON: Bool
        /// Whether members that the type does not have are left out, and not an error.
        let dropsUnknown: Bool
        /// The maximum number of bytes.
        let limit: Int
    }

    /// The type, or `nil` for JSON of no known type.
    let typed: Typed?

    /// Reads a message, with buffers of its own.
    ///
    /// - Parameters:
    ///   - payload: The message.
    ///   - room: The maximum number of bytes that its JSON may hold.
    /// - Returns: The JSON, which counts for no meter yet.
    func read(_ payload: [UInt8], room: Int) -> ReadMessage {
        guard typed != nil else { return ReadMessage { () throws(JSONError) in try JSON.parse(payload, room: room) } }
        return read(payload.span, MessageCodec { room }, (ByteQueue(), ByteQueue())) { text throws(JSONError) in
            try JSON.parse(text, room: room)
        }
    }

    /// Reads a message.
    ///
    /// - Parameters:
    ///   - payload: The message.
    ///   - codec: The codec to use.
    ///   - queues: Two empty queues to use.
    ///   - parse: Reads JSON.
    /// - Returns: The JSON, or the reason why the message is not valid for its type or takes too much memory.
    func read(
        _ payload: Span<UInt8>,
        _ codec: MessageCodec,
        _ queues: (message: ByteQueue, text: ByteQueue),
        _ parse: (Span<UInt8>) throws(JSONError) -> JSONValue
    ) -> ReadMessage {
        guard let typed else { return ReadMessage { () throws(JSONError) in try parse(payload) } }
        do throws(MessageError) {
            try typed.appendJSON(of: payload, codec, by: queues.message, to: queues.text)
        } catch {
            return ReadMessage(error)
        }
        return ReadMessage { () throws(JSONError) in try parse(queues.text.readable) }
    }
}

extension MessageReading.Typed {
    /// Appends the ProtoJSON of a message, each field once and by its name in ProtoJSON.
    fileprivate func appendJSON(
        of payload: Span<UInt8>,
        _ codec: MessageCodec,
        by message: ByteQueue,
        to text: ByteQueue
    ) throws(MessageError) {
        guard isJSON else { return try codec.appendJSON(of: payload, type, types, limit: limit, to: text) }
        try codec.appendMessage(
            ofJSON: payload,
            type,
            types,
            dropsUnknown: dropsUnknown,
            limit: limit,
            to: message
        )
        try codec.appendJSON(of: message.readable, type, types, limit: limit, to: text)
    }
}

/// A message that was read as JSON.
struct ReadMessage: Sendable {
    /// The JSON, or `nil` for what is not JSON.
    let value: JSONValue?
    /// The reason why the message is not valid for its type, or takes too much memory.
    let flaw: MessageFlaw?
    /// Whether the JSON of the message takes more memory than there is.
    let exceedsMemory: Bool

    private init(_ value: JSONValue?, _ flaw: MessageFlaw?, exceedsMemory: Bool) {
        (self.value, self.flaw, self.exceedsMemory) = (value, flaw, exceedsMemory)
    }

    fileprivate init(_ error: MessageError) { self.init(nil, MessageFlaw(error), exceedsMemory: false) }

    fileprivate init(_ parse: () throws(JSONError) -> JSONValue) {
        do throws(JSONError) {
            self.init(try parse(), nil, exceedsMemory: false)
        } catch {
            self.init(nil, error.isTooLarge ? MessageFlaw(error) : nil, exceedsMemory: error.isTooLarge)
        }
    }

    /// Returns the message with its bytes counted by a meter, on whose thread it stays from then on.
    func counted(by meter: MemoryMeter) -> ReadMessage {
        ReadMessage(value?.counted(by: meter), flaw, exceedsMemory: exceedsMemory)
    }
}
