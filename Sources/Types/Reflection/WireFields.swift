internal import Bytes

/// Walks over the fields of a message in the wire format of Protobuf, of which no type is needed.
///
/// Pure. Nothing is copied: a field says where its bytes are.
struct WireFields {
    /// A field that was found.
    struct Field: Equatable {
        let number: UInt64
        let value: Value
    }

    /// The value of a field, as far as the wire format tells.
    enum Value: Equatable {
        case number(UInt64)
        /// The place of a text, of bytes or of a message.
        case bytes(Range<Int>)
    }

    /// The bytes are not in the wire format.
    struct Malformed: Error {}

    private static let maxNumber: UInt64 = 1 << 29 - 1
    private var position: Int
    private let end: Int

    /// Walks over the fields of a message that lies at `range` in the bytes given later.
    init(_ range: Range<Int>) {
        (position, end) = (range.lowerBound, range.upperBound)
    }

    /// The next field; none at the end.
    ///
    /// - Parameter bytes: the same bytes each time.
    /// - Returns: the field, of any sort but a group, which descriptors do not have.
    /// - Throws: an error if the bytes are cut off, or no field begins here.
    mutating func next(in bytes: Span<UInt8>) throws(Malformed) -> Field? {
        guard position < end else { return nil }
        let tag = try number(in: bytes)
        let field = tag >> 3
        guard field > 0, field <= Self.maxNumber else { throw Malformed() }
        switch tag & 7 {
        case 0: return Field(number: field, value: .number(try number(in: bytes)))
        case 1: return Field(number: field, value: .bytes(try skip(8)))
        case 2:
            let length = try number(in: bytes)
            guard length <= UInt64(end - position) else { throw Malformed() }
            return Field(number: field, value: .bytes(try skip(Int(length))))
        case 5: return Field(number: field, value: .bytes(try skip(4)))
        default: throw Malformed()
        }
    }

    private mutating func skip(_ count: Int) throws(Malformed) -> Range<Int> {
        guard count <= end - position else { throw Malformed() }
        defer { position += count }
        return position..<(position + count)
    }

    private mutating func number(in bytes: Span<UInt8>) throws(Malformed) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 63, by: 7) {
            guard position < end else { throw Malformed() }
            let byte = bytes[position]
            position += 1
            guard shift < 63 || byte <= 1 else { throw Malformed() }
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
        }
        throw Malformed()
    }
}

extension [UInt8] {
    /// Appends a number in the wire format.
    mutating func append(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }

    /// Appends a field of bytes.
    package mutating func append(field number: UInt64, _ bytes: some Collection<UInt8>) {
        append(varint: number << 3 | 2)
        append(varint: UInt64(bytes.count))
        append(contentsOf: bytes)
    }
}
