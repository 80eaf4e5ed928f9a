import Types

/// A file of a descriptor set that a test makes, in the wire format of FileDescriptorProto.
struct Schema {
    /// The types of fields, as FieldDescriptorProto numbers them.
    enum Kind: UInt64 {
        case double = 1
        case float, int64, uint64, int32
        case bool = 8
        case string
        case message = 11
        case bytes, uint32, enumeration
    }

    private(set) var bytes: [UInt8] = []

    init(_ name: String, package: String, syntax: String = "proto3", imports: [String] = []) {
        bytes = Wire.text(1, name) + Wire.text(2, package) + imports.flatMap { Wire.text(3, $0) }
        bytes += Wire.text(12, syntax)
    }

    /// A field; `type` is the full name of its message or enumeration.
    static func field(
        _ name: String,
        _ number: UInt64,
        _ kind: Kind,
        type: String = "",
        label: UInt64 = 1,
        oneof: UInt64? = nil
    ) -> [UInt8] {
        let typeName = type.isEmpty ? [] : Wire.text(6, "." + type)
        let place = oneof.map { Wire.number(9, $0) } ?? []
        return Wire.text(1, name) + Wire.number(3, number) + Wire.number(4, label) + Wire.number(5, kind.rawValue)
            + typeName + place
    }

    /// A message; `entry` is what a field of it is a map of.
    func message(
        _ name: String,
        _ fields: [[UInt8]],
        oneof: String? = nil,
        entry: (name: String, fields: [[UInt8]])? = nil
    ) -> Schema {
        var other = self
        let oneofs = oneof.map { Wire.bytes(8, Wire.text(1, $0)) } ?? []
        var definition = Wire.text(1, name) + fields.flatMap { Wire.bytes(2, $0) }
        if let entry {
            let members: [UInt8] = entry.fields.flatMap { Wire.bytes(2, $0) }
            definition += Wire.bytes(3, Wire.text(1, entry.name) + members + Wire.bytes(7, Wire.number(7, 1)))
        }
        other.bytes += Wire.bytes(4, definition + oneofs)
        return other
    }

    /// A message whose one field is a map with these fields of an entry.
    func map(_ name: String, _ entry: [[UInt8]]) -> Schema {
        var other = self
        let definition =
            Wire.text(1, "MapEntry") + entry.flatMap { Wire.bytes(2, $0) } + Wire.bytes(7, Wire.number(7, 1))
        let field = Self.field("map", 1, .message, type: "m.\(name).MapEntry", label: 3)
        other.bytes += Wire.bytes(4, Wire.text(1, name) + Wire.bytes(2, field) + Wire.bytes(3, definition))
        return other
    }

    func enumeration(_ name: String, _ values: [(String, UInt64)]) -> Schema {
        var other = self
        let members = values.flatMap { Wire.bytes(2, Wire.text(1, $0) + Wire.number(2, $1)) }
        other.bytes += Wire.bytes(5, Wire.text(1, name) + members)
        return other
    }

    /// A service with one method, which has a stream of responses.
    func service(_ name: String, _ method: String, _ request: String, _ response: String) -> Schema {
        var other = self
        let definition = Wire.text(1, method) + Wire.text(2, "." + request) + Wire.text(3, "." + response)
        other.bytes += Wire.bytes(6, Wire.text(1, name) + Wire.bytes(2, definition + Wire.number(6, 1)))
        return other
    }

    /// A descriptor set of these files.
    static func set(_ files: [Schema], source: String = "set.binpb") -> DescriptorSet {
        DescriptorSet(source: source, bytes: files.flatMap { Wire.bytes(1, $0.bytes) })
    }
}

/// The wire format of Protobuf.
enum Wire {
    static func number(_ field: UInt64, _ value: UInt64) -> [UInt8] { varint(field << 3) + varint(value) }
    static func text(_ field: UInt64, _ value: String) -> [UInt8] { bytes(field, Array(value.utf8)) }

    static func bytes(_ field: UInt64, _ value: [UInt8]) -> [UInt8] {
        varint(field << 3 | 2) + varint(UInt64(value.count)) + value
    }

    static func varint(_ value: UInt64) -> [UInt8] {
        var (rest, result) = (value, [UInt8]())
        while rest >= 0x80 {
            result.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        return result + [UInt8(rest)]
    }
}
