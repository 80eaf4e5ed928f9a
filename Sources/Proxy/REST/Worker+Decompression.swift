internal import Bytes
internal import Compressors
internal import Protocols
internal import RPC

extension Worker {
    /// The bytes that a body is compressed from.
    ///
    /// - Parameters:
    ///   - bytes: the body.
    ///   - compression: how it is compressed.
    ///   - direction: who has sent it.
    ///   - limit: the bytes that it may have.
    /// - Returns: the bytes.
    /// - Throws: an error for what cannot be decompressed, or has more bytes.
    func decompressed(
        _ bytes: Span<UInt8>,
        from compression: Compression,
        _ direction: Direction,
        limit: Int
    ) throws(RPCError) -> [UInt8] {
        guard Compressor.supports(compression) else {
            let code = direction == .request ? RPCCode.unimplemented : .internal
            throw RPCError(code, "the \(direction) is compressed in a way that Martlet does not know")
        }
        let plain = acquireQueue()
        defer { release(plain) }
        do throws(DecompressionError) {
            try compressor.decompress(bytes, from: compression, into: plain, limit: limit)
        } catch {
            guard error == .overLimit else {
                let code = direction == .request ? RPCCode.invalidArgument : .internal
                throw RPCError(code, "the \(direction) cannot be decompressed")
            }
            throw RPCError(
                .resourceExhausted,
                "the \(direction) exceeds limits.held_message (\(limit) bytes)",
                httpStatus: direction == .request ? 413 : nil
            )
        }
        return plain.readable.array
    }
}
