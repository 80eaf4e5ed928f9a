import Testing

@testable import HTTP

/// The character classes against the words of the RFCs, byte for byte.
@Suite struct HTTP1GrammarTests {
    private static let letters =
        (UInt8(ascii: "a")...UInt8(ascii: "z")).map { $0 } + (UInt8(ascii: "A")...UInt8(ascii: "Z"))
    private static let alphanumeric = letters + (UInt8(ascii: "0")...UInt8(ascii: "9"))

    private func all(_ isIn: (UInt8) -> Bool) -> Set<UInt8> {
        Set((UInt8.min...UInt8.max).filter(isIn))
    }

    @Test func `a token is what RFC 9110 says`() {
        #expect(all(HTTP1Grammar.isToken) == Set(Self.alphanumeric + "!#$%&'*+-.^_`|~".utf8))
    }

    @Test func `a target is visible ASCII without what no URI may have`() {
        #expect(all(HTTP1Grammar.isTarget) == Set(UInt8(0x21)...0x7e).subtracting("\"#<>\\".utf8))
    }

    @Test func `a host is made of unreserved, percent, sub-delimiters without the comma, colon and brackets`() {
        #expect(all(HTTP1Grammar.isHost) == Set(Self.alphanumeric + "-._~%!$&'()*+;=:[]".utf8))
    }

    @Test func `a value has no control bytes but the tab`() {
        #expect(all(HTTP1Grammar.isValue) == Set([0x09] + (UInt8(0x20)...0x7e) + (UInt8(0x80)...0xff)))
    }

    @Test(arguments: 0..<19) func `eight bytes at once pass where each of them does`(place: Int) {
        // Bytes on which each class ends, so that a carry between two bytes would show.
        for others in "az.-09AZ!~".utf8 {
            var bytes = [UInt8](repeating: others, count: 19)
            for byte in UInt8.min...UInt8.max {
                bytes[place] = byte
                #expect(bytes.span.areAll { $0.isTarget } == bytes.allSatisfy(HTTP1Grammar.isTarget))
                #expect(bytes.span.areAll { $0.isName } == bytes.allSatisfy(HTTP1Grammar.isName))
            }
        }
    }

    @Test func `fewer than eight bytes are for one at a time`() {
        #expect(![UInt8](repeating: 0x61, count: 7).span.areAll { $0.isTarget })
    }
}
