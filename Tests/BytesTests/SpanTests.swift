import Bytes
import Testing

private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

@Test func `spans are compared`() {
    let text = bytes("abc")
    #expect(text.span.equals("abc") == true)
    #expect(text.span.equals("abd") == false)
    #expect(text.span.equals("ab") == false)
    #expect(text.span.equals(bytes("abc")) == true)
    #expect(text.span.equals(bytes("abc").span) == true)
    #expect(text.span.equals(bytes("abcd")) == false)
    #expect([UInt8]().span.equals("") == true)
}

@Test func `prefixes and suffixes are found`() {
    let text = bytes("abc")
    #expect(text.span.hasPrefix("ab") == true)
    #expect(text.span.hasPrefix("") == true)
    #expect(text.span.hasPrefix(bytes("abc")) == true)
    #expect(text.span.hasPrefix("abcd") == false)
    #expect(text.span.hasPrefix(bytes("b")) == false)
    #expect(text.span.hasSuffix(bytes("bc")) == true)
    #expect(text.span.hasSuffix(bytes("ab")) == false)
    #expect(text.span.hasSuffix(bytes("xabc")) == false)
}

@Test func `letters are compared in any case and other bytes are not`() {
    #expect(bytes("Content-TYPE").span.equalsIgnoringCase("content-type") == true)
    #expect(bytes("content_type").span.equalsIgnoringCase("content-type") == false)
    #expect(bytes("@").span.equalsIgnoringCase("`") == false)
    #expect(bytes("content-typ").span.equalsIgnoringCase("content-type") == false)
}

@Test func `a byte is found from a place on`() {
    let text = bytes("a,b,c")
    #expect(text.span.firstIndex(of: UInt8(ascii: ",")) == 1)
    #expect(text.span.firstIndex(of: UInt8(ascii: ","), from: 2) == 3)
    #expect(text.span.firstIndex(of: UInt8(ascii: ","), from: 4) == nil)
    #expect(text.span.firstIndex(of: UInt8(ascii: "a"), from: 9) == nil)
}

@Test(arguments: [(" \t a b\t", "a b"), ("", ""), (" \t ", ""), ("a", "a"), ("\na", "\na")])
func `spaces and tabs are trimmed`(text: String, expected: String) {
    #expect(bytes(text).span.trimmed.string == expected)
}

@Test(
    arguments: [
        ("0", 0), ("007", 7), ("9223372036854775807", Int.max), ("9223372036854775808", nil),
        ("99999999999999999999", nil),
        ("", nil), ("-1", nil), ("+1", nil), ("1 ", nil), ("1a", nil),
    ] as [(String, Int?)]
)
func `decimal digits are read`(text: String, value: Int?) {
    #expect(bytes(text).span.decimal == value)
}

@Test func `a span is copied and made text`() {
    let text = bytes("é")
    #expect(text.span.array == text)
    #expect(text.span.string == "é")
    #expect([UInt8]([0x61, 0xff]).span.string == "a\u{fffd}")
}

@Test(
    arguments: [("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)]
        as [(String, UInt64)]
)
func `the hash is FNV-1a`(text: String, hash: UInt64) {
    #expect(bytes(text).span.fnv1a == hash)
}
