import Bytes
import Testing

private func json(_ bytes: [UInt8]) -> String {
    let queue = ByteQueue()
    queue.append(json: bytes.span)
    return queue.readable.string
}

@Test(arguments: [
    ("", #""""#), ("plain", #""plain""#), ("a\"b\\c/d", #""a\"b\\c/d""#), ("\n\r\t", #""\n\r\t""#),
    ("\u{0}\u{1}\u{1f}\u{7f}", "\"\\u0000\\u0001\\u001f\u{7f}\""), ("☃ \"é\"\n", #""☃ \"é\"\n""#), ("\n☃", #""\n☃""#),
])
func `a JSON string is quoted and escaped`(text: String, expected: String) {
    #expect(json(Array(text.utf8)) == expected)
    let queue = ByteQueue()
    queue.append(json: text)
    #expect(queue.readable.string == expected)
}

@Test(
    arguments: [
        ([0xff], "\"\u{fffd}\""), ([0x61, 0x80, 0x0a], "\"a\u{fffd}\\n\""), ([0xe2, 0x98], "\"\u{fffd}\""),
        ([0xc0, 0xaf, 0x22], "\"\u{fffd}\u{fffd}\\\"\""),
    ] as [([UInt8], String)]
)
func `what is not UTF-8 is repaired in a JSON string`(bytes: [UInt8], expected: String) {
    #expect(json(bytes) == expected)
}
