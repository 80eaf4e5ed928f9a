import Bytes
import Testing
import Types

/// Invented messages, which are all valid.
@Suite struct FakeMessageTests {
    private static let wellKnown = Schema("wkt.proto", package: "google.protobuf")
        .message("Any", [Schema.field("type_url", 1, .string), Schema.field("value", 2, .bytes)])
        .message("Duration", [Schema.field("seconds", 1, .int64), Schema.field("nanos", 2, .int32)])
        .message("Timestamp", [Schema.field("seconds", 1, .int64), Schema.field("nanos", 2, .int32)])
        .message("FieldMask", [Schema.field("paths", 1, .string, label: 3)])
        .message("Empty", [])
        .message("DoubleValue", [Schema.field("value", 1, .double)])
        .message("FloatValue", [Schema.field("value", 1, .float)])
        .message("Int64Value", [Schema.field("value", 1, .int64)])
        .message("UInt64Value", [Schema.field("value", 1, .uint64)])
        .message("Int32Value", [Schema.field("value", 1, .int32)])
        .message("UInt32Value", [Schema.field("value", 1, .uint32)])
        .message("BoolValue", [Schema.field("value", 1, .bool)])
        .message("StringValue", [Schema.field("value", 1, .string)])
        .message("BytesValue", [Schema.field("value", 1, .bytes)])
        .enumeration("NullValue", [("NULL_VALUE", 0)])
        .message(
            "Value",
            [
                Schema.field("null_value", 1, .enumeration, type: "google.protobuf.NullValue", oneof: 0),
                Schema.field("number_value", 2, .double, oneof: 0), Schema.field("string_value", 3, .string, oneof: 0),
                Schema.field("bool_value", 4, .bool, oneof: 0),
                Schema.field("struct_value", 5, .message, type: "google.protobuf.Struct", oneof: 0),
                Schema.field("list_value", 6, .message, type: "google.protobuf.ListValue", oneof: 0),
            ],
            oneof: "kind"
        )
        .message("ListValue", [Schema.field("values", 1, .message, type: "google.protobuf.Value", label: 3)])
        .message(
            "Struct",
            [Schema.field("fields", 1, .message, type: "google.protobuf.Struct.FieldsEntry", label: 3)],
            entry: (
                "FieldsEntry",
                [Schema.field("key", 1, .string), Schema.field("value", 2, .message, type: "google.protobuf.Value")]
            )
        )

    /// The names of the well-known types, with the JSON for the least and the greatest chance.
    private static let forms: [(type: String, least: String, greatest: String)] = [
        ("Any", "{}", "{}"),
        ("Duration", #""0s""#, #""3599s""#),
        ("Timestamp", #""2010-01-10T12:00:00Z""#, #""2029-09-19T12:00:00Z""#),
        ("FieldMask", #""field0,otherField.name0""#, #""field999,otherField.name999""#),
        ("Empty", "{}", "{}"),
        ("DoubleValue", "0.5", "999.5"),
        ("FloatValue", "0.5", "999.5"),
        ("Int64Value", #""1""#, #""100""#),
        ("UInt64Value", #""1""#, #""100""#),
        ("Int32Value", "1", "100"),
        ("UInt32Value", "1", "100"),
        ("BoolValue", "true", "false"),
        ("StringValue", #""value 0""#, #""value 999""#),
        ("BytesValue", #""AQID""#, #""AQID""#),
        ("Value", #""value 0""#, #""value 999""#),
        ("ListValue", "[]", "[]"),
        ("Struct", "{}", "{}"),
    ]

    private static let others = Schema("other.proto", package: "m", syntax: "proto2", imports: ["wkt.proto"])
        .enumeration("Late", [("TEN", 10), ("ELEVEN", 11)])
        .message("Required", [Schema.field("late", 1, .enumeration, type: "m.Late", label: 2)])
        .message("Deep", [Schema.field("next", 1, .message, type: "m.Deeper", label: 2)])
        .message("Deeper", [Schema.field("next", 1, .message, type: "m.Deepest", label: 2)])
        .message("Deepest", [Schema.field("next", 1, .message, type: "m.Bottom", label: 2)])
        .message("Bottom", [Schema.field("next", 1, .message, type: "m.Required", label: 2)])
        .message("Itself", [Schema.field("next", 1, .message, type: "m.Itself"), Schema.field("name", 2, .string)])
        .message("All", all)

    /// A field and a list of each well-known type, and of enumerations.
    private static var all: [[UInt8]] {
        var fields: [[UInt8]] = []
        for (index, form) in forms.enumerated() {
            let (number, type) = (UInt64(index * 2 + 1), "google.protobuf.\(form.type)")
            fields.append(Schema.field("f\(number)", number, .message, type: type))
            fields.append(Schema.field("f\(number + 1)", number + 1, .message, type: type, label: 3))
        }
        fields.append(Schema.field("null", 101, .enumeration, type: "google.protobuf.NullValue"))
        fields.append(Schema.field("nulls", 102, .enumeration, type: "google.protobuf.NullValue", label: 3))
        fields.append(Schema.field("late", 103, .enumeration, type: "m.Late"))
        fields.append(Schema.field("lates", 104, .enumeration, type: "m.Late", label: 3))
        return fields
    }

    private let types: TypeSet
    private let codec = MessageCodec()

    init() throws { types = try TypeSet([Schema.set([Self.wellKnown, Self.others])]) }

    /// The JSON of an invented message, as it is written when it has been read.
    private func fake(_ name: String, _ chance: @escaping () -> Double) throws -> String {
        let type = try #require(types.message(named: name))
        let (invented, message, text) = (ByteQueue(), ByteQueue(), ByteQueue())
        FakeMessage(chance).append(type, to: invented)
        try codec.appendMessage(ofJSON: invented.readable, type, types, limit: 1 << 20, to: message)
        try codec.appendJSON(of: message.readable, type, types, limit: 1 << 20, to: text)
        return text.readable.string
    }

    @Test func `each well-known type is in its own form`() throws {
        for (name, least, greatest) in Self.forms {
            #expect(try fake("google.protobuf.\(name)") { 0 } == least)
            #expect(try fake("google.protobuf.\(name)") { 0.999_999 } == greatest)
        }
    }

    @Test(arguments: ["m.All", "m.Required", "m.Deep", "m.Itself"])
    func `messages are valid by any chance`(_ name: String) throws {
        var state: UInt64 = 88_172_645_463_325_252
        for _ in 0..<200 {
            _ = try fake(name) {
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                return Double(state >> 11) / Double(1 << 53)
            }
        }
    }

    @Test func `values of an enumeration are those that it has`() throws {
        #expect(try fake("m.Required") { 0 } == #"{"late":"TEN"}"#)
        #expect(try fake("m.Required") { 0.9 } == #"{"late":"ELEVEN"}"#)
    }

    @Test func `required fields are there however deep`() throws {
        #expect(try fake("m.Deep") { 0 } == #"{"next":{"next":{"next":{"next":{"late":"TEN"}}}}}"#)
        let itself = #"{"next":{"next":{"next":{"name":"name 0"},"name":"name 0"},"name":"name 0"},"name":"name 0"}"#
        #expect(try fake("m.Itself") { 0 } == itself)
    }
}
