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

    /// Appends the bytes that the compressed frame at the end of a response stands for.
    ///
    /// - Returns: Whether it can be decompressed.
    func decompressEnd(_ payload: Span<UInt8>, into queue: ByteQueue) -> Bool {
        let (compression, limit) = (compression(.response), callerLeg.listener.heldMessageLimit)
        guard compression != .identity else { return false }
        return (try? worker.decompress(payload, from: compression, .response, limit: limit, to: queue)) != nil
    }
}

extension Worker {
    /// Returns the bytes that a compressed message stands for, with the same errors as `decompress`.
    func decompressed(
        _ payload: Span<UInt8>,
        from compression: Compression,
        _ direction: Direction,
        limit: Int
    ) throws(RPCError) -> [UInt8] {
        let output = acquireQueue()
        defer { release(output) }
        try decompress(payload, from: compression, direction, limit: limit, to: output)
        return output.readable.array
    }

    /// Appends the bytes that a compressed message stands for; an empty message is not compressed.
    ///
    /// - Parameters:
    ///   - payload: The message as it was sent.
    ///   - compression: The compression of the message.
    ///   - direction: The direction of the message.
    ///   - limit: The maximum number of decompressed bytes.
    ///   - output: The queue for the bytes.
    /// - Throws: The error for the caller if Martlet cannot decompress the message.
    func decompress(
        _ payload: Span<UInt8>,
        from compression: Compression,
        _ direction: Direction,
        limit: Int,
        to output: ByteQueue
    ) throws(RPCError) {
        guard !payload.isEmpty else { return }
        guard Compressor.supports(compression) else { throw .unknownCompression(direction) }
        do throws(DecompressionError) {
            try compressor.decompress(payload, from: compression, into: output, limit: limit)
        } catch {
            throw RPCError(error, direction, limit: limit)
        }
    }
}

extension RPCError {
    /// The error of a message that cannot be decompressed, or not within `limits.held_message`.
    init(_ error: DecompressionError, _ direction: Direction, limit: Int) {
        if error == .overLimit {
            let problem = "exceeds limits.held_message (\(limit) bytes) when decompressed"
            self.init(.resourceExhausted, "a \(direction) message \(problem)")
        } else {
            let code: RPCCode = direction == .request ? .invalidArgument : .internal
            self.init(code, "a \(direction) message cannot be decompressed")
        }
    }

    /// Returns the error of a message whose compression Martlet does not know.
    static func unknownCompression(_ direction: Direction) -> RPCError {
        let problem = "the compression of the \(direction) messages is not supported"
        return direction == .request ? unsupported(problem) : RPCError(.internal, problem)
    }

    /// Returns the error of a request whose compression Martlet cannot undo; it lists the compressions that Martlet can.
    static func unsupported(_ problem: String) -> RPCError {
        unsupported(problem, use: Compressor.all)
    }
}
