internal import Bytes
internal import CNghttp2

/// A head in several frames, on its way from the peer to nghttp2: a HEADERS frame, whose header nghttp2 has, and CONTINUATION frames.
///
/// Only such a head can have a string that nghttp2 does not read. A class, because its session checks for each field whether a
/// long head is being read.
final class HTTP2LongHead {
    typealias Step = HPACKShortener.Step

    private var block: HPACKShortener
    /// The bytes that are left of the payload of a frame, those before the block, and those behind it.
    private var left: Int
    private var before = 0
    private var padding = 0
    /// Whether the next byte is the length of the padding.
    private var isPadded: Bool
    private var isLastFrame = false
    /// The header of a frame that has come in part.
    private var header: [UInt8] = []
    /// The next field that nghttp2 reports, if nghttp2 does not see it as it is.
    private var field: HTTP2LongField?
    /// The maximum payload of a frame, as long as this side does not raise it in SETTINGS.
    private static let maxPayload = 16 * 1024

    /// Creates the head whose HEADERS frame has a payload of so many bytes, and these flags.
    init(payload: Int, flags: UInt8, limit: Int) {
        block = HPACKShortener(limit: limit)
        left = payload
        isPadded = flags & UInt8(NGHTTP2_FLAG_PADDED.rawValue) != 0
        before = (isPadded ? 1 : 0) + (flags & UInt8(NGHTTP2_FLAG_PRIORITY.rawValue) != 0 ? 5 : 0)
    }

    /// Whether the last frame has come whole.
    var hasEnded: Bool { isLastFrame && left == 0 }

    /// The bytes that the head holds.
    var heldBytes: Int { block.field.value.capacity }

    /// Notes that the next field that nghttp2 reports is the one of the last step.
    func noteField() { field = block.field }

    /// Removes the field that nghttp2 reports just now, if nghttp2 does not see it as it is.
    func takeField() -> HTTP2LongField? { field.take() }

    /// Reads bytes of the peer from a position on, which moves, and adds to the output what nghttp2 gets in their place.
    func next(_ bytes: Span<UInt8>, from position: inout Int, into output: ByteQueue) -> Step {
        block.endFilling(output)
        while position < bytes.count, !hasEnded {
            guard left > 0 else {
                readHeader(bytes[position], output)
                position += 1
                continue
            }
            if before > 0 || left <= padding {
                readAround(bytes[position], output)
                position += 1
                continue
            }
            let end = min(bytes.count, position + left - padding)
            let start = position
            let step = block.next(bytes.extracting(0..<end), from: &position, into: output)
            left -= position - start
            guard case .more = step else { return step }
        }
        return .more
    }

    private func readHeader(_ byte: UInt8, _ output: ByteQueue) {
        header.append(byte)
        guard header.count == 9 else { return }
        // Only the HEADERS frame has padding.
        padding = 0
        left = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
        isLastFrame = header[4] & UInt8(NGHTTP2_FLAG_END_HEADERS.rawValue) != 0
        // A frame that is too large is to stay too large.
        let count = left > Self.maxPayload ? left : left - block.removed(of: left)
        for shift in [16, 8, 0] { output.append(byte: UInt8(truncatingIfNeeded: count >> shift)) }
        for byte in header[3...] { output.append(byte: byte) }
        header.removeAll(keepingCapacity: true)
    }

    /// Passes on a byte of the payload that does not belong to the block.
    private func readAround(_ byte: UInt8, _ output: ByteQueue) {
        if isPadded { (isPadded, padding) = (false, Int(byte)) }
        output.append(byte: byte)
        before = max(0, before - 1)
        left -= 1
    }
}
