internal import Bytes
internal import CUpb

/// Messages in the wire format of Protobuf.
enum MessageWire {
    /// Reads a message that is itself `depth` deep; its text stays where it is.
    static func read(
        _ bytes: Span<UInt8>,
        into message: Message,
        _ type: MessageType,
        _ types: TypeSet,
        _ arena: MessageArena,
        _ depth: Int
    ) throws(MessageError) {
        let room = MessageError.maxDepth + 1 - depth
        guard room > 0 else { throw .depth }
        let status = unsafe bytes.withUnsafeBytes { bytes in
            unsafe martlet_message_read(
                message.pointer,
                type.definition,
                types.pool,
                bytes.baseAddress,
                bytes.count,
                UInt32(room),
                arena.inside
            )
        }
        switch UInt32(bitPattern: status) {
        case MARTLET_OK.rawValue: return
        case MARTLET_NO_MEMORY.rawValue: throw .memory
        case MARTLET_BAD_UTF8.rawValue: throw MessageError("a string is not UTF-8").of(type)
        case MARTLET_TOO_DEEP.rawValue: throw .depth
        default: throw MessageError("not in the wire format of Protobuf").of(type)
        }
    }

    /// Appends a message of at most `limit` bytes.
    static func write(
        _ message: Message,
        _ type: MessageType,
        _ arena: MessageArena,
        limit: Int,
        into output: ByteQueue
    ) throws(MessageError) {
        var written = unsafe martlet_text()
        let depth = UInt32(MessageError.maxDepth)
        let status = unsafe martlet_message_write(message.pointer, type.definition, depth, arena.inside, &written)
        switch UInt32(bitPattern: status) {
        case MARTLET_OK.rawValue: break
        case MARTLET_TOO_DEEP.rawValue: throw .depth
        default: throw .memory
        }
        guard unsafe written.count <= limit else { throw MessageError("the message exceeds \(limit) bytes", .tooLarge) }
        let text = unsafe Text(written)
        output.append(text.bytes)
    }

    /// Checks that no field is missing that the types require.
    static func checkRequired(
        _ message: Message,
        _ type: MessageType,
        _ types: TypeSet
    ) throws(MessageError) {
        guard types.hasRequiredFields else { return }
        var path = [CChar](repeating: 0, count: 256)
        let length = unsafe martlet_message_missing(message.pointer, type.definition, types.pool, &path, path.count)
        guard length > 0 else { return }
        let name = String(decoding: path[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        throw MessageError("the required field \(name) is missing").of(type)
    }
}
