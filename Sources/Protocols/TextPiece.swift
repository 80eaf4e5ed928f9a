internal import Bytes
internal import RPC

/// Some bytes decoded out of a gRPC-Web body in base64, no more at once than were asked for.
struct TextPiece {
    /// The bytes that are being read.
    let decoded: ByteQueue
    /// How many of them were read.
    var position = 0
    private var base64 = Base64Decoder()

    /// Makes an empty piece that decodes into `decoded`.
    init(decoded: ByteQueue) {
        self.decoded = decoded
    }

    /// Whether the text may end here.
    var canEnd: Bool { base64.canEnd }

    /// Decodes `text` from `position` on, into the place of what was decoded before.
    ///
    /// - Returns: whether it is base64.
    mutating func decode(_ text: Span<UInt8>, from position: inout Int, atMost limit: Int) -> Bool {
        decoded.removeAll()
        self.position = 0
        while position < text.count, decoded.count < limit {
            if let byte = base64.next(text[position]) { decoded.append(byte: byte) }
            position += 1
        }
        return base64.isValid
    }
}
