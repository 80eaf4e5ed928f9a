import Bytes
import Documents
import Testing

/// What JSON takes in memory, whatever it looks like.
struct JSONMemoryTests {
    private static let size = 200_000
    /// What a small text may take beyond four times its size.
    private static let slack = 17 * 1024

    /// Repeats a part of an array, up to a size.
    private static func array(of part: String) -> [UInt8] {
        var text = Array("[\(part)".utf8)
        while text.count < size { text += Array(",\(part)".utf8) }
        return text + Array("]".utf8)
    }

    private static func object(_ name: (Int) -> String, _ value: String = "1") -> [UInt8] {
        var (text, number) = (Array("{\"\(name(0))\":\(value)".utf8), 0)
        while text.count < size {
            number += 1
            text += Array(",\"\(name(number))\":\(value)".utf8)
        }
        return text + Array("}".utf8)
    }

    private static let parts = [
        "1", "[]", "{}", "\"\"", "[1]", "[1,2]", "{\"a\":1}", "{\"\":0}", "1.5", "-0.1e-7", "true", "null", "\"a\\n\"",
    ]
    private static let others: [[UInt8]] = [
        object { String($0, radix: 36) },
        object({ "\\n\($0)" }, "[]"),
        object({ "\($0)" }, "{\"\":{}}"),
        Array("\"\(String(repeating: "\\u00e9", count: size / 6))\"".utf8),
        Array("\"\(String(repeating: "é", count: size / 2))\"".utf8),
        Array(String(repeating: "7", count: size).utf8),
    ]
    private static let shapes: [[UInt8]] = parts.map { array(of: $0) } + others

    @Test(arguments: shapes.indices)
    func `a text takes at most four times its size`(shape: Int) throws {
        let text = Self.shapes[shape]
        let meter = MemoryMeter()
        do {
            let value = try JSON.parse(text.span, meter: meter)
            #expect(meter.bytes <= 4 * text.count + Self.slack)
            #expect(meter.bytes == 0 || meter.bytes > text.count)
            #expect(value.heldBytes <= 4 * text.count + Self.slack)
            // Those of strings are written with the fewest escapes.
            #expect(try JSON.parse(value.bytes) == value)
        }
        #expect(meter.bytes == 0)
    }

    @Test(arguments: ["[[1]]", "[[[[]]]]", "{\"\":[[[[0]]]]}"])
    func `arrays and objects are nested closely in small texts only`(part: String) throws {
        #expect(try JSON.parse(Array("[\(part),\(part)]".utf8)) != .null)
        let error = #expect(throws: JSONError.self) { try JSON.parse(Self.array(of: part)) }
        #expect(error?.isTooLarge == true)
        #expect(error?.text == "the JSON takes more than 4 times its size in memory")
    }

    @Test func `a text that has no room is not read`() throws {
        let text = Self.array(of: "1")
        _ = try JSON.parse(text, room: 4 * text.count)
        for room in [0, text.count - 1, text.count, text.count * 2] {
            let error = #expect(throws: JSONError.self) { try JSON.parse(text, room: room) }
            #expect(error?.isTooLarge == true)
            #expect(error?.text == "the JSON takes more memory than limits.memory has left")
        }
    }

    @Test func `a text that is not valid is no larger for it`() {
        var text = Self.array(of: "[]")
        text[text.count - 2] = UInt8(ascii: "}")
        let error = #expect(throws: JSONError.self) { try JSON.parse(text) }
        #expect(error?.isTooLarge == false)
        #expect(error?.text == "unexpected token")
    }

    /// Values that are made of pieces at random, with white space.
    @Test func `what is read is what was written, at random`() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<500 {
            let value = Self.value(depth: 0, &random)
            let plain = value.bytes
            let read = try JSON.parse(plain)
            #expect(read == value)
            #expect(value == read)
            #expect(read.bytes == plain, "\(String(decoding: plain, as: UTF8.self))")
            let spaced = Self.spaced(plain, &random)
            #expect(try JSON.parse(spaced).bytes == plain)
            // All that is cut off is noticed.
            if plain.count > 1, plain.first != UInt8(ascii: "-"), !(0x30...0x39 ~= plain[0]) {
                #expect(throws: JSONError.self) { try JSON.parse(Array(plain.dropLast())) }
            }
        }
    }

    private static func value(depth: Int, _ random: inout SystemRandomNumberGenerator) -> JSONValue {
        switch Int.random(in: depth < 5 ? 0..<8 : 2..<8, using: &random) {
        case 0:
            return .array((0..<Int.random(in: 0..<6, using: &random)).map { _ in value(depth: depth + 1, &random) })
        case 1:
            let names = Set((0..<Int.random(in: 0..<24, using: &random)).map { _ in text(&random) })
            return .object(names.map { JSONValue.Member($0, value(depth: depth + 1, &random)) })
        case 2: return .integer(.random(in: -1000...1000, using: &random))
        case 3: return (try? JSON.parse(Array("1.25e-3".utf8))) ?? .null
        case 4: return .bool(.random(using: &random))
        case 5: return .null
        default: return .string(text(&random))
        }
    }

    private static func text(_ random: inout SystemRandomNumberGenerator) -> String {
        let pieces = [
            "a", "\"", "\\", "\u{1}", "é", "𝄞", "longer than a word", "/", "[", ",", "{}", ":", "\u{7f}", "1",
        ]
        return (0..<Int.random(in: 0..<6, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
            .joined()
    }

    private static func spaced(_ text: [UInt8], _ random: inout SystemRandomNumberGenerator) -> [UInt8] {
        var (spaced, isInside, isEscaped) = ([UInt8](), false, false)
        for byte in text {
            let isMark = !isInside && "[]{},:".utf8.contains(byte)
            if isMark { spaced += [0x20, 0x0a, 0x0d, 0x09].prefix(Int.random(in: 0...4, using: &random)) }
            spaced.append(byte)
            if isMark { spaced.append(0x20) }
            if byte == UInt8(ascii: "\""), !isEscaped { isInside.toggle() }
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        }
        return spaced
    }

    @Test func `a name that is there twice is found among many, with and without escapes`() throws {
        let names = (0..<1000).map { "\"name\($0)\":[{}]" }.joined(separator: ",")
        _ = try JSON.parse(Array("{\(names)}".utf8))
        for name in ["name0", "name999", "n\\u0061me500"] {
            let error = #expect(throws: JSONError.self) { try JSON.parse(Array("{\(names),\"\(name)\":1}".utf8)) }
            #expect(error?.text == "duplicate object key")
        }
        #expect(throws: JSONError.self) { try JSON.parse(Array("{\"a\":{\"b\":1,\"b\":2}}".utf8)) }
    }
}

/// Changes of texts that have been read.
struct JSONEditTests {
    private static let text = #"{"a": [1, {"b": "x"}, [2]], "c": null, "e": {}, "card_number": 7, "cardNumber": 8}"#

    private func edited(_ edit: (inout JSONValue) -> Void) throws -> String {
        var value = try JSON.parse(Array(Self.text.utf8))
        edit(&value)
        return String(decoding: value.bytes, as: UTF8.self)
    }

    @Test(arguments: [
        ("", "0"), ("/a/0", #"{"a":[0,{"b":"x"},[2]],"c":null,"e":{},"card_number":7,"cardNumber":8}"#),
        ("/a/*", #"{"a":[0,0,0],"c":null,"e":{},"card_number":7,"cardNumber":8}"#),
        ("/c", #"{"a":[1,{"b":"x"},[2]],"c":0,"e":{},"card_number":7,"cardNumber":8}"#),
        ("/c/d/f", #"{"a":[1,{"b":"x"},[2]],"c":{"d":{"f":0}},"e":{},"card_number":7,"cardNumber":8}"#),
        ("/e/x", #"{"a":[1,{"b":"x"},[2]],"c":null,"e":{"x":0},"card_number":7,"cardNumber":8}"#),
        ("/z/*/x", #"{"a":[1,{"b":"x"},[2]],"c":null,"e":{},"card_number":7,"cardNumber":8,"z":{}}"#),
        ("/a/1/n", #"{"a":[1,{"b":"x","n":0},[2]],"c":null,"e":{},"card_number":7,"cardNumber":8}"#),
        ("/a/7", #"{"a":[1,{"b":"x"},[2]],"c":null,"e":{},"card_number":7,"cardNumber":8}"#),
    ])
    func `a value is set, and the objects on the way`(pointer: String, result: String) throws {
        let pointer = try #require(JSONPointer(pointer))
        var isSet = false
        #expect(try edited { isSet = $0.set(pointer, to: .integer(0)) } == result)
        #expect(isSet)
    }

    @Test func `a scalar on the way is no place`() throws {
        let pointer = try #require(JSONPointer("/a/0/x"))
        var isSet = true
        _ = try edited { isSet = $0.set(pointer, to: .integer(0)) }
        #expect(!isSet)
    }

    @Test(arguments: [
        ("/a/0", #"{"a":[{"b":"x"},[2]],"c":null,"e":{},"card_number":7,"cardNumber":8}"#),
        ("/a/2", #"{"a":[1,{"b":"x"}],"c":null,"e":{},"card_number":7,"cardNumber":8}"#),
        ("/a/*", #"{"a":[],"c":null,"e":{},"card_number":7,"cardNumber":8}"#),
        ("/a/*/b", #"{"a":[1,{},[2]],"c":null,"e":{},"card_number":7,"cardNumber":8}"#),
        ("/a", #"{"c":null,"e":{},"card_number":7,"cardNumber":8}"#), ("/*", "{}"), ("", text.filter { $0 != " " }),
        ("/card_number", #"{"a":[1,{"b":"x"},[2]],"c":null,"e":{},"cardNumber":8}"#),
    ])
    func `a value is removed`(pointer: String, result: String) throws {
        let pointer = try #require(JSONPointer(pointer))
        #expect(try edited { $0.remove(pointer) } == result)
    }

    @Test func `several places are replaced at once, by all names of ProtoJSON`() throws {
        let pointers = ["/a/1/b", "/a/1", "/card_number", "/none"].compactMap { JSONPointer($0) }
        let result = #"{"a":[1,"***",[2]],"c":null,"e":{},"card_number":"***","cardNumber":"***"}"#
        #expect(try edited { $0.replace(pointers, by: .string("***")) } == result)
    }

    @Test func `names and scalars are mapped, unless a name is there twice then`() throws {
        let value = try JSON.parse(Array(#"{"a":[1,"x"],"b":{"c":null}}"#.utf8))
        let mapped = value.mapped(name: { $0 + "'" }, scalar: { $0 == .integer(1) ? .string("\"") : $0 })
        #expect(mapped.map { String(decoding: $0.bytes, as: UTF8.self) } == #"{"a'":["\"","x"],"b'":{"c'":null}}"#)
        #expect(value.mapped(name: { _ in "same" }, scalar: { $0 }) == nil)
        #expect(value.mapped(name: { $0 }, scalar: { _ in nil }) == nil)
    }
}
