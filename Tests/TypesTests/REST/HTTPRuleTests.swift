import Testing

@testable import Types

@Suite struct HTTPRuleTests {
    /// A field with bytes, in the wire format.
    private func field(_ number: UInt64, _ bytes: [UInt8]) -> [UInt8] {
        varint(number << 3 | 2) + varint(UInt64(bytes.count)) + bytes
    }

    private func text(_ number: UInt64, _ text: String) -> [UInt8] { field(number, Array(text.utf8)) }

    private func varint(_ value: UInt64) -> [UInt8] {
        value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7f) | 0x80] + varint(value >> 7)
    }

    private let option: UInt64 = 72_295_728

    @Test func `a rule and those that are added to it`() {
        let added = field(11, text(2, "/v1/b")) + field(11, field(8, text(1, "REPORT") + text(2, "/v1/c")))
        let rule = text(1, "pkg.Service.Method") + text(4, "/v1/a") + text(7, "*") + text(12, "item") + added
        let others = varint(33 << 3) + varint(1) + field(1000, [1, 2, 3])
        let rules = HTTPRule.all(in: others + field(option, rule))
        #expect(rules.map(\.httpMethod) == ["POST", "GET", "REPORT"])
        #expect(rules.map(\.template) == ["/v1/a", "/v1/b", "/v1/c"])
        #expect(rules.map(\.body) == ["*", "", ""])
        #expect(rules.map(\.responseBody) == ["item", "", ""])
    }

    @Test func `an option in parts is their sum`() {
        let rules = HTTPRule.all(in: field(option, text(2, "/v1/a")) + field(option, text(7, "*")))
        #expect(rules == [HTTPRule(httpMethod: "GET", template: "/v1/a", body: "*", responseBody: "")])
    }

    @Test func `no rule`() {
        #expect(HTTPRule.all(in: []) == [])
        #expect(HTTPRule.all(in: varint(34 << 3) + varint(1)) == [])
    }

    @Test func `bytes that are no message end the rules`() {
        let whole = field(option, text(2, "/v1/a"))
        for count in 0..<whole.count { #expect(HTTPRule.all(in: Array(whole.prefix(count))).count <= 1) }
        let tooLong: [UInt8] = Array(repeating: 0xff, count: 64)
        #expect(HTTPRule.all(in: whole + tooLong) == HTTPRule.all(in: whole))
        #expect(HTTPRule.all(in: varint(option << 3 | 2) + varint(.max)) == [])
    }
}
