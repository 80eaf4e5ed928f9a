internal import Bytes
internal import Compressors
internal import Protocols
public import RPC

extension Call {
    /// Decompresses a body of a response.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - contentEncoding: The value of the header.
    ///   - limit: The maximum number of bytes.
    /// - Returns: The bytes that the body was compressed from.
    /// - Throws: The code `resourceExhausted` if there are more bytes, and another one if they cannot be decompressed.
    public func decompressed(
        _ body: Span<UInt8>,
        from contentEncoding: Span<UInt8>,
        limit: Int
    ) throws(RPCError) -> [UInt8] {
        try worker.decompressed(body, from: Compression(name: contentEncoding), .response, limit: limit)
    }
}

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
            let problem = "the \(direction) is compressed in a way that Martlet does not know"
            throw direction == .request ? .unsupported(problem) : RPCError(.internal, problem)
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
