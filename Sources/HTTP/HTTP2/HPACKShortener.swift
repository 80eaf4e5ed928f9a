internal import Bytes

/// Shortens the strings of an HPACK block (RFC 7541 §6) that nghttp2 would not read, and passes on all else as it is.
///
/// nghttp2 ends the connection at a string above 64 KiB, and with it the calls of others. In place of such a string it gets a filling
/// of 32 to 48 KiB. That is more than a table holds, so the field empties the table as the long one would.
///
/// A string is shortened behind its first 32 KiB, two frames behind its length. So no frame becomes shorter that has begun, and the
/// length of the string keeps its number of bytes.
///
/// ```
/// start ──literal──▶ index ──▶ [name: length ▶ string] ──▶ value: length ▶ string ──▶ start
///   └────indexed, table size──▶ index ──▶ start
/// ```
///
/// A pure value.
struct HPACKShortener {
    enum Step {
        /// All bytes have been read.
        case more
        /// The next field that nghttp2 reports is `field`, once nghttp2 has what is in the output.
        case field
        /// The block is not valid HPACK.
        case malformed
    }

    private enum State { case start, index, length, lengthRest, string }

    /// The length of a string from which on nghttp2 does not read it.
    static let maxString = 64 * 1024

    private let limit: Int
    private var state = State.start
    /// Whether a name follows the index, or a value, or neither.
    private var hasName = false
    private var hasValue = false
    /// Whether the string is a name.
    private var isName = false
    private var isHuffman = false
    /// The length of the string, as far as it has come, and the number of bytes that it has behind its prefix.
    private var length = 0
    private var lengthBytes = 0
    /// The bytes that are left of the string as it is.
    private var left = 0
    /// The number of bytes of a filling, how many of them have gone out, and how many bytes are left that have no filling.
    private var filling = 0
    private var filled = 0
    private var excess = 0
    /// Whether the last byte of the filling is still to go out.
    private var owesLast = false
    private var huffman = HPACKHuffman()
    /// The long field that has come, or that comes just now.
    private(set) var field = HTTP2LongField()

    /// Creates a shortener at the start of a block; of a value beyond `limit` it keeps no more than that.
    init(limit: Int) {
        self.limit = limit
    }

    /// The number of bytes by which a frame becomes shorter, of whose payload `count` bytes belong to the block.
    func removed(of count: Int) -> Int {
        guard state == .string, filling > 0 else { return 0 }
        return max(0, min(count - (filling - 1 - filled), excess))
    }

    /// Reads bytes from a position on, which moves, and adds to the output what nghttp2 gets in their place.
    mutating func next(_ bytes: Span<UInt8>, from position: inout Int, into output: ByteQueue) -> Step {
        while position < bytes.count {
            guard state != .string else {
                guard let step = string(bytes, &position, output) else { continue }
                return step
            }
            let byte = bytes[position]
            position += 1
            switch state {
            case .start: begin(byte, output)
            case .index:
                output.append(byte: byte)
                if byte < 0x80 { endIndex() }
            case .length: beginLength(byte, output)
            case .lengthRest: guard addLength(byte, output) else { return .malformed }
            case .string: break
            }
        }
        return .more
    }

    // MARK: Representations

    private mutating func begin(_ byte: UInt8, _ output: ByteQueue) {
        output.append(byte: byte)
        let mask: UInt8 =
            switch byte {
            case 0x80...: 0x7f
            case 0x40...: 0x3f
            case 0x20...: 0x1f
            default: 0x0f
            }
        hasValue = byte < 0x20 || byte & 0xc0 == 0x40
        hasName = hasValue && byte & mask == 0
        if byte & mask == mask { state = .index } else { endIndex() }
    }

    private mutating func endIndex() {
        isName = hasName
        state = hasValue ? .length : .start
    }

    private mutating func beginLength(_ byte: UInt8, _ output: ByteQueue) {
        output.append(byte: byte)
        isHuffman = byte & 0x80 != 0
        length = Int(byte & 0x7f)
        lengthBytes = 0
        if length == 0x7f { state = .lengthRest } else { beginString(length) }
    }

    /// Adds seven bits to the length.
    ///
    /// The bytes before the third make less than 16 KiB, and go out as they are. The third makes 32 KiB of a long string's length.
    private mutating func addLength(_ byte: UInt8, _ output: ByteQueue) -> Bool {
        length += Int(byte & 0x7f) << (7 * lengthBytes)
        lengthBytes += 1
        let isLast = byte < 0x80
        guard lengthBytes > 3 || lengthBytes == 3 && (!isLast || length > Self.maxString) else {
            output.append(byte: byte)
            if isLast { beginString(length) }
            return true
        }
        output.append(byte: byte & 0x80 | (lengthBytes == 3 ? 2 : 0))
        guard isLast else { return lengthBytes < 5 }
        // A length may have more bytes than it needs; of one that is not long the third byte has gone out already.
        guard length > Self.maxString else { return false }
        beginFilling()
        return true
    }

    private mutating func beginString(_ count: Int) {
        (filling, left, state) = (0, count, .string)
        if count == 0 { endString() }
    }

    private mutating func endString() {
        state = isName ? .length : .start
        isName = false
        // The next value is that of another field.
        if state == .start { field = HTTP2LongField() }
    }

    // MARK: Strings

    /// Reads a part of a string.
    ///
    /// - Returns: A step if one is due.
    private mutating func string(_ bytes: Span<UInt8>, _ position: inout Int, _ output: ByteQueue) -> Step? {
        let rest = bytes.count - position
        guard filling > 0 else {
            let count = min(rest, left)
            output.append(bytes.extracting(position..<position + count))
            position += count
            left -= count
            if left == 0 { endString() }
            return nil
        }
        let hidden = min(rest, filling - 1 - filled)
        for index in filled..<filled + hidden { output.append(byte: fill(index)) }
        filled += hidden
        let dropped = min(rest - hidden, excess)
        excess -= dropped
        let isLast = excess == 0 && rest > hidden + dropped
        let end = position + hidden + dropped + (isLast ? 1 : 0)
        guard keep(bytes.extracting(position..<end)) else { return .malformed }
        position = end
        guard isLast else { return nil }
        guard isName || !isHuffman || field.value.count > limit || huffman.mayEnd else { return .malformed }
        owesLast = true
        return .field
    }

    private mutating func beginFilling() {
        // The length that the bytes already sent stand for.
        filling = 127 + (length - 127) & 0x3fff + 2 << 14
        (filled, excess, state) = (0, length - filling, .string)
        huffman = HPACKHuffman()
        if isName { field.nameCount = length }
    }

    /// Adds the byte with which nghttp2 has a long string whole, once `field` is noted.
    mutating func endFilling(_ output: ByteQueue) {
        guard owesLast else { return }
        owesLast = false
        output.append(byte: fill(filled))
        endString()
    }

    /// Keeps a part of a value, as far as the limit goes.
    private mutating func keep(_ part: Span<UInt8>) -> Bool {
        guard !isName else { return true }
        field.valueCount += part.count
        for index in part.indices where field.value.count <= limit {
            if !isHuffman {
                field.value.append(part[index])
            } else if !huffman.decode(part[index], into: &field.value) {
                return false
            }
        }
        if field.value.count <= limit { field.valueCount = field.value.count }
        return true
    }

    /// A byte that can be anywhere in a name, and in a value beneath the `/` with which a path has to begin.
    private func fill(_ index: Int) -> UInt8 {
        guard isHuffman else { return UInt8(ascii: isName ? "*" : "/") }
        // Four `/` of six bits each, and then `*`, whose code is a byte.
        guard !isName, index < 3 else { return 0xf9 }
        return index == 0 ? 0x61 : index == 1 ? 0x86 : 0x18
    }
}
