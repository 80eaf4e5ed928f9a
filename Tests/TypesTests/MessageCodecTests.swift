import Bytes
import Testing
import TimeKit
import Types

@Suite struct MessageCodecTests {
    private static let any = Schema("google/protobuf/any.proto", package: "google.protobuf")
        .message("Any", [Schema.field("type_url", 1, .string), Schema.field("value", 2, .bytes)])
    private static let shop = Schema("shop.proto", package: "shop", imports: ["google/protobuf/any.proto"])
        .enumeration("Colour", [("NONE", 0), ("RED", 1)])
        .message(
            "Item",
            [
                Schema.field("name", 1, .string), Schema.field("unit_count", 2, .int64),
                Schema.field("colour", 3, .enumeration, type: "shop.Colour"),
                Schema.field("inner", 4, .message, type: "shop.Item"),
                Schema.field("list", 5, .message, type: "shop.Item", label: 3), Schema.field("raw", 6, .bytes),
                Schema.field("any", 7, .message, type: "google.protobuf.Any"),
                Schema.field("a", 8, .string, oneof: 0), Schema.field("b", 9, .bool, oneof: 0),
                Schema.field("ratio", 10, .double), Schema.field("counts", 11, .int32, label: 3),
            ],
            oneof: "choice"
        )

    private let types: TypeSet
    private let item: MessageType
    private let codec = MessageCodec()

    init() throws {
        types = try TypeSet([Schema.set([Self.shop, Self.any])])
        item = try #require(types.message(named: "shop.Item"))
    }

    private func wire(_ json: String, drops: Bool = false, limit: Int = 1 << 20) throws(MessageError) -> [UInt8] {
        let (output, text) = (ByteQueue(), Array(json.utf8))
        try codec.appendMessage(ofJSON: text.span, item, types, dropsUnknown: drops, limit: limit, to: output)
        return output.readable.array
    }

    private func json(_ wire: [UInt8], _ form: JSONForm = JSONForm(), limit: Int = 1 << 20) throws(MessageError)
        -> String
    {
        let output = ByteQueue()
        try codec.appendJSON(of: wire.span, item, types, form, limit: limit, to: output)
        return output.readable.string
    }

    private func flaw(_ json: String) -> String {
        do throws(MessageError) {
            return "valid: \(try wire(json))"
        } catch {
            return error.description
        }
    }

    @Test(arguments: [
        "{}", #"{"name":"a\n\"ü","unitCount":"-5","colour":"RED"}"#, #"{"inner":{"list":[{},{"name":"x"}]}}"#,
        #"{"raw":"AQID+/8="}"#, #"{"any":{"@type":"t/shop.Item","name":"y"}}"#, #"{"b":false}"#,
        #"{"ratio":"-Infinity","counts":[1,2,-3]}"#, #"{"any":{"@type":"t/google.protobuf.Any","value":{}}}"#,
    ])
    func `what is read is written again`(_ text: String) throws {
        #expect(try json(wire(text)) == text)
    }

    @Test func `names and numbers have more than one form`() throws {
        #expect(try json(wire(#"{"unit_count":1.0e1,"colour":1}"#)) == #"{"unitCount":"10","colour":"RED"}"#)
        #expect(try json(wire(#" { "name" : null , "raw" : "-_8" } "#)) == #"{"raw":"+/8="}"#)
        #expect(
            try json(wire(#"{"any":{"name":"y","@type":"t/shop.Item"}}"#))
                == #"{"any":{"@type":"t/shop.Item","name":"y"}}"#
        )
    }

    @Test func `the form is as wanted`() throws {
        var form = JSONForm()
        (form.keepsNames, form.writesEnumNumbers) = (true, true)
        let message = try wire(#"{"unitCount":1,"colour":"RED"}"#)
        #expect(try json(message, form) == #"{"unit_count":"1","colour":1}"#)
        form = JSONForm()
        form.writesDefaults = true
        let written = #"{"name":"","unitCount":"0","colour":"NONE","list":[],"raw":"","ratio":0,"counts":[]}"#
        #expect(try json([], form) == written)
    }

    @Test(arguments: [
        (#"{"colour2":1}"#, #"shop.Item: no field "colour2""#),
        (#"{"inner":{"list":[{},{"x/y":1}]}}"#, #"shop.Item: no field "x/y" at /inner/list/1"#),
        (#"{"inner":{"a/b":1}}"#, #"shop.Item: no field "a/b" at /inner"#),
        (#"{"name":"a","name":"b"}"#, "shop.Item: the field comes twice at /name"),
        (#"{"unitCount":1,"unit_count":1}"#, "shop.Item: the field comes twice at /unit_count"),
        (#"{"a":"x","b":true}"#, "shop.Item: another field of the same oneof is there already at /b"),
        (
            #"{"unitCount":9223372036854775808}"#,
            "shop.Item: 9223372036854775808 is out of the range of int64 at /unitCount"
        ),
        (#"{"unitCount":" 1"}"#, #"shop.Item: " 1" is not a value of the type int64 at /unitCount"#),
        (#"{"b":"true"}"#, "shop.Item: not a value of the type bool at /b"),
        (#"{"colour":"GREEN"}"#, #"shop.Item: "GREEN" is not a value of the type shop.Colour at /colour"#),
        (#"{"list":[null]}"#, "shop.Item: null is not a value here at /list/0"),
        (#"{"any":{"@type":"t/shop.Gone"}}"#, "google.protobuf.Any: the type shop.Gone is not known at /any"),
        (#"{"any":{"name":"x"}}"#, #"google.protobuf.Any: an Any has no "@type" at /any"#),
        (#"{"any":{"@type":"t/shop.Item","@type":"t/shop.Item"}}"#, #"shop.Item: no field "@type" at /any"#),
        ("", "shop.Item: the JSON ends too early"), ("null", #"shop.Item: not valid JSON: unexpected "n" at byte 0"#),
        ("{} {}", #"not valid JSON: unexpected "{" at byte 3"#),
        (#"{"name":"a",}"#, #"shop.Item: not valid JSON: unexpected "}" at byte 12"#),
        (#"{"name":"\ud800"}"#, "shop.Item: a string has an invalid escape at byte 15 at /name"),
        ("{'name':1}", #"shop.Item: not valid JSON: unexpected "'" at byte 1"#),
        (#"{"ratio":1e400}"#, "shop.Item: 1e400 is out of the range of double at /ratio"),
        (#"{"ratio":NaN}"#, #"shop.Item: not valid JSON: unexpected "N" at byte 9 at /ratio"#),
    ])
    func `what is wrong is told with its type and its place`(_ json: String, _ error: String) {
        #expect(flaw(json) == error)
    }

    @Test func `unknown members can be left out`() throws {
        let text = #"{"x":[{"y":null},"z",-1e5,true],"name":"a","colour":"GREEN","any":{"@type":"t/shop.Item","q":1}}"#
        #expect(try json(wire(text, drops: true)) == #"{"name":"a","any":{"@type":"t/shop.Item"}}"#)
        #expect(throws: MessageError.self) { try wire(#"{"x":[1,]}"#, drops: true) }
        #expect(throws: MessageError.self) {
            try wire(#"{"any":{"@type":"t/shop.Item","@type":"t/shop.Gone"}}"#, drops: true)
        }
    }

    @Test func `a message is nested a hundred deep, and not deeper`() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: #"{"inner":"#, count: depth - 1) + "{}" + String(repeating: "}", count: depth - 1)
        }
        #expect(try json(wire(nested(100))) == nested(100))
        #expect(flaw(nested(101)).contains("messages are nested more than 100 deep"))
        var message = try wire(nested(100))
        message = Wire.bytes(4, message)
        #expect(throws: MessageError.self) { try json(message) }
        let any = String(repeating: #"{"@type":"t/google.protobuf.Any","value":"#, count: 60)
        let text = #"{"any":"# + any + "{}" + String(repeating: "}", count: 61)
        #expect(try json(wire(text)) == text)
    }

    @Test func `what no message is told`() {
        for bytes: [UInt8] in [
            [0x0a], [0x0a, 5, 1], [0xff], Wire.bytes(1, [0xff]), [0x0b], [0x10] + [UInt8](repeating: 0x80, count: 11),
        ] {
            #expect(throws: MessageError.self) { try json(bytes) }
        }
    }

    @Test func `keys of a map that would collide take no time`() throws {
        let fields = [Schema.field("key", 1, .uint64), Schema.field("value", 2, .uint64)]
        let types = try TypeSet([Schema.set([Schema("map.proto", package: "m").map("M", fields)])])
        let type = try #require(types.message(named: "m.M"))
        // Their halves are the same, so that a hash of both together without a seed is zero.
        let keys = (1...60_000).map { UInt64($0) << 32 | UInt64($0) }
        let message = keys.flatMap { Wire.bytes(1, Wire.number(1, $0)) }
        let time = try ProcessorTime.measure {
            try codec.appendJSON(of: message.span, type, types, limit: 4 << 20, to: ByteQueue())
        }
        #expect(time < .seconds(5))
    }

    @Test func `a message is no larger than its limit, whatever its JSON`() {
        #expect(reason { try wire(#"{"ratio":1}"#, limit: 8) } == .tooLarge)
        #expect(reason { try wire(#"{"ratio":1}"#, limit: 11) } == nil)
    }

    @Test func `memory and size are bounded`() {
        let many = (0..<500_000).flatMap { _ in [0x2a, 0] as [UInt8] }
        #expect(reason { try json(many) } == .tooLarge)
        #expect(reason { try json(Wire.bytes(6, [UInt8](repeating: 0, count: 900_000))) } == .tooLarge)
        let list = #"{"list":["# + String(repeating: "{},", count: 300_000) + "{}]}"
        #expect(reason { try wire(list) } == .tooLarge)
        #expect(flaw(#"{"name":"still fine"}"#).hasPrefix("valid"))
    }

    private func reason(_ body: () throws -> some Any) -> MessageError.Reason? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? MessageError)?.reason
        }
    }

    @Test func `fields that the type does not have are not written`() throws {
        let output = ByteQueue()
        let message = Wire.text(1, "a") + Wire.text(99, "b")
        try codec.appendJSON(of: message.span, item, types, limit: 1000, to: output)
        #expect(output.readable.string == #"{"name":"a"}"#)
    }

    @Test func `a type that only has the name of a well-known one is like any other`() throws {
        let file = Schema("t.proto", package: "google.protobuf").message(
            "Timestamp",
            [Schema.field("text", 3, .string)]
        )
        let types = try TypeSet([Schema.set([file])])
        let type = try #require(types.message(named: "google.protobuf.Timestamp"))
        let (output, text) = (ByteQueue(), Array(#"{"text":"x"}"#.utf8))
        try codec.appendMessage(ofJSON: text.span, type, types, limit: 1000, to: output)
        #expect(output.readable.array == Wire.text(3, "x"))
    }
}
