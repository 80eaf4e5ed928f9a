internal import Bytes
internal import Compressors
internal import Documents
internal import Protocols
internal import RPC

/// The way to decompress a message.
struct Packing: Sendable {
    let compression: Compression
    let direction: Direction
    /// The maximum number of bytes of the message.
    let limit: Int

    /// Returns the bytes that a compressed message stands for.
    ///
    /// - Throws: The error for the caller if there are too many, or if they cannot be decompressed.
    func unpacked(_ bytes: Span<UInt8>) throws(RPCError) -> [UInt8] {
        let queue = ByteQueue()
        do throws(DecompressionError) {
            try Compressor().decompress(bytes, from: compression, into: queue, limit: limit)
        } catch {
            throw RPCError(error, direction, limit: limit)
        }
        return queue.readable.array
    }
}

/// A large message on its way through another thread, which decompresses it and reads it as JSON.
struct LargeMessage: Sendable {
    /// The result of reading a large message.
    struct Output: Sendable {
        /// The decompressed message, if it was compressed.
        fileprivate(set) var payload: [UInt8]?
        /// The message as JSON, if it is small enough for those who read it so.
        fileprivate(set) var read: ReadMessage?
        /// The reason why it cannot be decompressed.
        fileprivate(set) var error: RPCError?

        /// The number of bytes that the output holds.
        var heldBytes: Int { (payload?.count ?? 0) + (read?.value?.heldBytes ?? 0) }
    }

    /// The message as it came.
    let bytes: [UInt8]
    /// The way to decompress it, or `nil` if it is not compressed.
    let packing: Packing?
    /// The way to read it as JSON.
    let reading: MessageReading
    /// The size of the largest message that is read as JSON.
    let maxJSON: Int

    /// Decompresses the message and reads it; its JSON holds at most what `memory` has room for.
    func output(within memory: MemoryBudget) -> Output {
        var output = Output()
        do throws(RPCError) {
            output.payload = try packing?.unpacked(bytes.span)
        } catch {
            output.error = error
            return output
        }
        let payload = output.payload ?? bytes
        if payload.count <= maxJSON { output.read = reading.read(payload, room: memory.messageRoom) }
        return output
    }
}
