internal import Bytes

/// The fields of a message in the wire format, one after the other, for messages whose types are in no set.
///
/// It ends at the first byte that is no field.
struct WireFields {
    /// A field, and what it has: a number, or the place of bytes.
    enum Value {
        case number(UInt64)
        case bytes(Range<Int>)
    }

    private let message: [UInt8]
    private var position = 0

    init(_ message: [UInt8]) {
        self.message = message
    }

    /// The bytes of a value.
    func bytes(_ range: Range<Int>) -> [UInt8] { Array(message[range]) }

    /// The next field.
    mutating func next() -> (number: UInt64, value: Value)? {
        guard let tag = varint() else { return nil }
        switch tag & 7 {
        case 0: return varint().map { (tag >> 3, .number($0)) }
        case 1: return skip(8).map { (tag >> 3, .bytes($0)) }
        case 2:
            guard let length = varint(), let count = Int(exactly: length) else { return nil }
            return skip(count).map { (tag >> 3, .bytes($0)) }
        case 5: return skip(4).map { (tag >> 3, .bytes($0)) }
        default: return nil
        }
    }

    private mutating func skip(_ count: Int) -> Range<Int>? {
        guard count <= message.count - position else { return nil }
        defer { position += count }
        return position..<position + count
    }

    private mutating func varint() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard position < message.count else { return nil }
            let byte = message[position]
            position += 1
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }
}
