import Testing

@testable import Types

@Suite struct JSONNumberTextTests {
    @Test(arguments: [
        ("0", 1), ("-0", 2), ("12.50", 5), ("1e5", 3), ("1E+5", 4), ("1e-05", 5), ("-", 0), ("", 0), ("01", 0),
        ("1.", 0),
        (".5", 0), ("1e", 0), ("+1", 0), ("1x", 1), ("-a", 0),
    ])
    func `a number is as long as JSON says`(_ text: String, _ length: Int) {
        #expect(JSONNumberText.length(Array(text.utf8).span) == length)
    }

    @Test(arguments: [
        ("0", 0), ("-0.0e9", 0), ("1.0", 1), ("1e2", 100), ("120.50e1", 1205), ("100e-2", 1),
        ("9007199254740993", 9_007_199_254_740_993),
        ("-9223372036854775808", Int64.min), ("9223372036854775807", Int64.max), ("0.00012e5", 12),
        ("1.00000000000000000000000000000000", 1), ("10000000000000000000000000e-24", 10),
    ])
    func `an integer is exact however it is written`(_ text: String, _ value: Int64) {
        #expect(JSONNumberText.integer(Array(text.utf8).span) as Int64? == value)
    }

    @Test(arguments: [
        "9223372036854775808", "-9223372036854775809", "0.5", "1e-1", "1e19", "1e999999999999999999999",
        "1e-999999999999",
        "123456789012345678901234567890", "1.00000000000000000000000000000001",
    ])
    func `what is no integer of the type is none`(_ text: String) {
        #expect(JSONNumberText.integer(Array(text.utf8).span) as Int64? == nil)
    }

    @Test func `the bounds of the other types`() {
        #expect(JSONNumberText.integer(Array("18446744073709551615".utf8).span) as UInt64? == .max)
        #expect(JSONNumberText.integer(Array("18446744073709551616".utf8).span) as UInt64? == nil)
        #expect(JSONNumberText.integer(Array("-1".utf8).span) as UInt64? == nil)
        #expect(JSONNumberText.integer(Array("2147483648".utf8).span) as Int32? == nil)
        #expect(JSONNumberText.double(Array("1e400".utf8).span) == nil)
        #expect(JSONNumberText.float(Array("3.5e38".utf8).span) == nil)
        #expect(JSONNumberText.float(Array("3.4028235e38".utf8).span) == 3.4028235e38)
    }
}
