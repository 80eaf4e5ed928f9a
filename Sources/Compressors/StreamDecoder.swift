internal import Bytes

/// Decompresses the bytes of one message, step by step.
protocol StreamDecoder: AnyObject {
    /// Uses some of `input`, which is all that is left of the message, and writes to `output`, which has room.
    func step(
        _ input: UnsafeRawBufferPointer,
        _ output: UnsafeMutableRawBufferPointer
    ) throws(DecompressionError) -> Step

    /// Gets ready for what stands behind a stream that is done; returns whether anything may.
    func startNext() -> Bool
}

extension StreamDecoder {
    /// Appends to `queue` what `bytes` stand for, and no more than one byte beyond the limit.
    func decode(_ bytes: Span<UInt8>, into queue: ByteQueue, limit: Int) throws(DecompressionError) {
        precondition(limit >= 0)
        var (used, made) = (0, 0)
        var room = Room()
        var isDone = false
        while used < bytes.count || !isDone {
            if isDone, !startNext() { throw .malformed }
            let step = try step(bytes.extracting(used...), into: queue, room: min(room.next() - 1, limit - made) + 1)
            // A step that can do nothing waits for bytes that do not come.
            guard step.isDone || step.used > 0 || step.made > 0 else { throw .malformed }
            used += step.used
            made += step.made
            isDone = step.isDone
            guard made <= limit else { throw .overLimit }
        }
    }

    private func step(
        _ rest: Span<UInt8>,
        into queue: ByteQueue,
        room: Int
    ) throws(DecompressionError) -> Step {
        var result = Step(used: 0, made: 0, isDone: false)
        try unsafe rest.withUnsafeBytes { input throws(DecompressionError) in
            _ = try unsafe queue.append(room: room) { output throws(DecompressionError) in
                result = try unsafe step(input, output)
                return result.made
            }
        }
        return result
    }
}
