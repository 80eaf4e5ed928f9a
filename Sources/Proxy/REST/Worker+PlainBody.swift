internal import Bytes
internal import HTTP
internal import Protocols
internal import RPC

extension Worker {
    /// Returns the bytes of a whole body, without the compression that its head names.
    ///
    /// - Throws: The errors of `decompress`.
    func plainBody(
        _ body: ByteQueue,
        of head: HTTPHead,
        _ direction: Direction,
        limit: Int
    ) throws(RPCError) -> [UInt8] {
        let compression = head.compression(.connectUnary)
        guard compression != .identity else { return body.readable.array }
        return try decompressed(body.readable, from: compression, direction, limit: limit)
    }
}
