internal import Bytes

/// Puts the framing on a body (RFC 9112 §6 and §7) and holds it to the length that its head has said.
///
/// A byte too many would be taken for the next message, and a byte too few would take one from it.
struct HTTP1BodyEncoder {
    private let framing: HTTP1Framing
    /// How many bytes are missing of the length that was said.
    private var left = 0

    init(_ framing: HTTP1Framing) {
        self.framing = framing
        if case .length(let length) = framing { left = length }
    }

    /// Appends a piece of the body; what is more than the length that was said is left out.
    ///
    /// - Returns: whether nothing had to be left out.
    mutating func write(_ bytes: Span<UInt8>, to queue: ByteQueue) -> Bool {
        switch framing {
        case .none: break
        case .chunked: if bytes.count > 0 { HTTP1Writer.write(chunk: bytes, to: queue) }
        case .untilEnd: queue.append(bytes)
        case .length:
            let count = min(bytes.count, left)
            left -= count
            queue.append(bytes.extracting(0..<count))
            return count == bytes.count
        }
        return true
    }

    /// Appends the end of the body, with the trailers where the framing can carry them.
    ///
    /// - Returns: whether the body was as long as was said.
    func writeEnd(trailers: HTTPHead?, to queue: ByteQueue) -> Bool {
        if framing == .chunked { HTTP1Writer.write(lastChunkWith: trailers, to: queue) }
        return left == 0
    }
}
