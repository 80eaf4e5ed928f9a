/// Writes a message in Protobuf's binary form, field by field.
struct ProtobufWriter {
    private(set) var bytes: [UInt8] = []

    /// A field of the wire type 2: bytes, text, or a message.
    mutating func bytes(_ field: Int, _ value: [UInt8]) {
        tag(field, 2)
        varint(UInt64(value.count))
        bytes += value
    }

    /// A text: what is no UTF-8 in it is replaced, as receivers reject a message with anything else.
    mutating func text(_ field: Int, _ value: [UInt8]) {
        bytes(field, Array(String(decoding: value, as: UTF8.self).utf8))
    }

    /// A message within.
    mutating func message(_ field: Int, _ body: (inout ProtobufWriter) -> Void) {
        var inner = ProtobufWriter()
        body(&inner)
        bytes(field, inner.bytes)
    }

    /// A number of the wire type 0.
    mutating func number(_ field: Int, _ value: UInt64) {
        tag(field, 0)
        varint(value)
    }

    /// A number of the wire type 1.
    mutating func fixed64(_ field: Int, _ value: UInt64) {
        tag(field, 1)
        append(value)
    }

    /// A number of the wire type 5.
    mutating func fixed32(_ field: Int, _ value: UInt32) {
        tag(field, 5)
        for shift in stride(from: UInt32(0), to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    /// A number with a fraction.
    mutating func double(_ field: Int, _ value: Double) { fixed64(field, value.bitPattern) }

    /// Numbers of 64 bits, one behind the other.
    mutating func packed(_ field: Int, _ values: [UInt64]) {
        tag(field, 2)
        varint(UInt64(values.count * 8))
        for value in values { append(value) }
    }

    private mutating func append(_ value: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    private mutating func tag(_ field: Int, _ type: UInt64) { varint(UInt64(field) << 3 | type) }

    private mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}
