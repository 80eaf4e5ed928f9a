import Configuration
import Documents
import Testing

/// Reading and writing JSON.
struct JSONTests {
    private func parse(_ text: String) throws(JSONError) -> JSONValue {
        try JSON.parse(Array(text.utf8))
    }

    @Test func `each type of value is read`() throws {
        #expect(try parse("null") == .null)
        #expect(try parse(" true ") == .bool(true))
        #expect(try parse("false") == .bool(false))
        #expect(try parse("-12") == .integer(-12))
        #expect(try parse("9223372036854775807") == .integer(.max))
        #expect(try parse("1.5e3") == .integer(1500))
        #expect(try parse("\"a\\u00fc\\u0000b\"") == .string("aü\0b"))
        #expect(try parse("[1, [], {}]") == .array([.integer(1), .array([]), .object([])]))
    }

    @Test func `members keep their order`() throws {
        let value = try parse("{\"z\": 1, \"a\": {\"b\": [true]}, \"m\": 2}")
        guard case .object(let members) = value else { throw Missing() }
        #expect(members.map(\.name) == ["z", "a", "m"])
        #expect(value["a"]?["b"] == .array([.bool(true)]))
        #expect(value["x"] == nil)
    }

    @Test func `a pointer names a value`() throws {
        let value = try parse("{\"a\": {\"b\": [10, 11]}, \"x/y\": 1, \"m~n\": 2, \"\": 3}")
        #expect(value.pointer("") == value)
        #expect(value.pointer("/a/b/1") == .integer(11))
        #expect(value.pointer("/x~1y") == .integer(1))
        #expect(value.pointer("/m~0n") == .integer(2))
        #expect(value.pointer("/") == .integer(3))
        #expect(value.pointer("/a/b/2") == nil)
        #expect(value.pointer("/a/b/01") == nil)
        #expect(value.pointer("/a/c/d") == nil)
        #expect(value.pointer("a") == nil)
        #expect(JSONPointer("/a/\u{301}b")?.tokens == ["a", "\u{301}b"])
        #expect(JSONPointer("/~0\u{301}~1\u{301}")?.tokens == ["~\u{301}/\u{301}"])
    }

    @Test(arguments: [
        ("/a/b", "{\"a\":{\"b\":0},\"c\":[{\"b\":2},{\"b\":3}]}"),
        ("/c/1/b", "{\"a\":{\"b\":1},\"c\":[{\"b\":2},{\"b\":0}]}"),
        ("/c/*/b", "{\"a\":{\"b\":1},\"c\":[{\"b\":0},{\"b\":0}]}"),
        ("/*/b", "{\"a\":{\"b\":0},\"c\":[{\"b\":2},{\"b\":3}]}"),
        ("/c", "{\"a\":{\"b\":1},\"c\":0}"),
        ("/c/01/b", "{\"a\":{\"b\":1},\"c\":[{\"b\":2},{\"b\":3}]}"),
        ("/c/+1/b", "{\"a\":{\"b\":1},\"c\":[{\"b\":2},{\"b\":3}]}"),
        ("/c/2/b", "{\"a\":{\"b\":1},\"c\":[{\"b\":2},{\"b\":3}]}"),
        ("/x", "{\"a\":{\"b\":1},\"c\":[{\"b\":2},{\"b\":3}]}"),
        ("", "0"),
    ])
    func `a value is put where a pointer says`(pointer: String, result: String) throws {
        var value = try parse("{\"a\": {\"b\": 1}, \"c\": [{\"b\": 2}, {\"b\": 3}]}")
        value.replace(try #require(JSONPointer(pointer)), by: .integer(0))
        #expect(String(decoding: value.bytes, as: UTF8.self) == result)
    }

    @Test(arguments: [
        "", " ", "{", "[1,]", "{\"a\":1,\"a\":2}", "[1] 2", "01", "+1", ".5", "'a'", "nul", "NaN", "\"\u{1}\"",
        "\"\\ud800\"",
        "1.", "1.e1", "-", "1e", "1e+", "1-2", "00", "-01", "1 2", "1e5x", "{\"\\u0000\":1}", "/**/1", "\u{feff}1",
    ])
    func `what is not valid JSON is rejected`(text: String) {
        #expect(throws: JSONError.self) { try parse(text) }
    }

    @Test(arguments: [
        [0xff], [0x22, 0xff, 0x22], [0x22, 0xc0, 0xaf, 0x22], [0x22, 0xed, 0xa0, 0x80, 0x22], [0x31, 0x00],
        [0x31, 0x00, 0x32],
    ])
    func `bytes that are no text are rejected`(bytes: [UInt8]) {
        #expect(throws: JSONError.self) { try JSON.parse(bytes) }
    }

    @Test func `an error reports its place and not the text around it`() {
        let error = #expect(throws: JSONError.self) { try parse("{\n  \"token\": hunter2\n}") }
        #expect(error?.line == 2)
        #expect(error?.column == 17)
        #expect(error?.text == "invalid token")
    }

    /// `K` and the sign for kelvin, an accent of its own and a letter that has it: `==` of strings takes them for the same.
    @Test(arguments: [("K", "\u{212a}"), ("\u{e9}", "e\u{301}"), (";", "\u{37e}")])
    func `texts that only check the same are others`(text: String, other: String) throws {
        #expect(JSONValue.string(text) != .string(other))
        let object = JSONValue.object([.init(text, .integer(1)), .init(other, .integer(2))])
        #expect(object[other] == .integer(2))
        #expect(object.pointer("/\(other)") == .integer(2))
        var changed = object
        changed.replace(try #require(JSONPointer("/\(other)")), by: .null)
        #expect(changed[text] == .integer(1))
        #expect(changed != object)
    }

    @Test func `a NUL byte is reported with its line, however lines end`() {
        let error = #expect(throws: JSONError.self) { try JSON.parse(Array("{\r\n\r\n ".utf8) + [0]) }
        #expect(error?.line == 3)
        #expect(error?.column == 2)
    }

    @Test func `nesting is bounded`() throws {
        let deep = { (depth: Int) in String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }
        _ = try parse(deep(2000))
        #expect(throws: JSONError.self) { try parse(deep(2049)) }
        #expect(throws: JSONError.self) { try parse(String(repeating: "[", count: 1_000_000)) }
    }

    @Test(arguments: [
        "null", "true", "-12", "-9223372036854775808", "[1,[],{}]", "{\"z\":1,\"a\":\"q\\\"\\\\\\n\\u0001ü\"}", "1.5",
        "1e+300", "1.50", "-0.0", "1E5", "9223372036854775808", "1e999",
        "123456789012345678901234567890.000000000000001",
    ])
    func `a value is written as it was read`(text: String) throws {
        #expect(String(decoding: try parse(text).bytes, as: UTF8.self) == text)
    }

    @Test(arguments: [
        ("0", "0.0"), ("0", "-0"), ("0", "0e9"), ("0", "0.000e-400"), ("1", "1.0"), ("100", "1e2"), ("1.5e3", "1500"),
        ("0.001", "1E-3"), ("9223372036854775808", "9.223372036854775808e18"), ("1e400", "10e399"),
        ("[1, {\"a\": 2.0}]", "[1.0, {\"a\": 2}]"), ("{\"a\": 1, \"b\": 2}", "{\"b\": 2.0, \"a\": 1.0}"),
    ])
    func `values that are worth the same are equal`(one: String, other: String) throws {
        #expect(try parse(one) == parse(other))
        #expect(try parse(other) == parse(one))
    }

    @Test(arguments: [
        ("1", "-1"), ("1", "10"), ("9007199254740993", "9007199254740992"), ("9007199254740993", "9007199254740992.0"),
        ("0.1", "0.10000000000000001"), ("18446744073709551615", "18446744073709551616"), ("1e400", "1e401"),
        ("1e-400", "0"), ("1", "\"1\""), ("1", "true"), ("{\"a\": 1}", "{\"b\": 1}"), ("[1, 2]", "[2, 1]"),
        ("123456789012345678901234567890", "123456789012345678901234567891"),
    ])
    func `values that are not worth the same are not equal, however near`(one: String, other: String) throws {
        #expect(try parse(one) != parse(other))
        #expect(try parse(other) != parse(one))
    }

    @Test func `digits in texts and names are no numbers`() throws {
        let text = #"{"1\"2":"-3","4":[5,"6\\",7.5],"8":"\u0039"}"#
        #expect(String(decoding: try parse(text).bytes, as: UTF8.self).hasPrefix(#"{"1\"2":"-3","4":[5,"6\\",7.5]"#))
    }

    @Test(arguments: [
        ("1", "1"), ("-1.5e+3", "-1.5e+3"), ("18446744073709551615", "18446744073709551615"), ("true", "true"),
        ("~", "null"),
        ("\"1\"", "\"1\""), ("'true'", "\"true\""), ("\"\"", "\"\""), ("0660", "\"0660\""), ("0x1f", "\"0x1f\""),
        ("1.", "\"1.\""),
        (".5", "\".5\""), ("+1", "\"+1\""), ("1e", "\"1e\""), ("yes", "\"yes\""), ("5\u{301}", "\"5\u{301}\""),
        ("10s", "\"10s\""), ("{ b: [x, 2], a: {} }", "{\"b\":[\"x\",2],\"a\":{}}"), ("\"q\\\"\\n\"", "\"q\\\"\\n\""),
    ])
    func `a YAML value becomes JSON`(yaml: String, json: String) throws {
        let node = try #require(document("- \(yaml)\n").node)
        #expect(String(decoding: node.json, as: UTF8.self) == "[\(json)]")
    }

    @Test func `JSON for people has a line for each value, but for those of a list of scalars`() throws {
        let node = try #require(document("{ a: [1, x], b: [{ c: ~ }, []], d: {}, e: { f: true } }").node)
        #expect(
            String(decoding: node.prettyJSON, as: UTF8.self) == """
                {
                  "a": [1,"x"],
                  "b": [
                    {
                      "c": null
                    },
                    []
                  ],
                  "d": {},
                  "e": {
                    "f": true
                  }
                }
                """
        )
    }
}
