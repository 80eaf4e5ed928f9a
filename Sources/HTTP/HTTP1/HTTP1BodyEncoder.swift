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

    /// Takes a piece of the body of `count` bytes: appends what goes before it.
    ///
    /// - Returns: how many bytes of the piece are to be sent; what is more than the length that was said is left out.
    mutating func begin(_ count: Int, to queue: ByteQueue) -> Int {
        switch framing {
        case .none: return 0
        case .untilEnd: return count
        case .chunked:
            guard count > 0 else { return 0 }
            queue.append(hexadecimal: count)
            queue.append("\r\n")
            return count
        case .length:
            let taken = min(count, left)
            left -= taken
            return taken
        }
    }

    /// Appends what goes behind a piece of which `count` bytes were sent.
    func end(_ count: Int, to queue: ByteQueue) {
        if framing == .chunked, count > 0 { queue.append("\r\n") }
    }

    /// Whether a piece may be longer than what is sent of it: only where there is no body to be had.
    var hasBody: Bool { framing != .none }

    /// Appends the end of the body, with the trailers where the framing can carry them.
    ///
    /// - Returns: whether the body was as long as was said.
    func writeEnd(trailers: HTTPHead?, to queue: ByteQueue) -> Bool {
        if framing == .chunked { HTTP1Writer.write(lastChunkWith: trailers, to: queue) }
        return left == 0
    }
}
