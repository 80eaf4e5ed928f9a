import Bytes
import Protocols
import RPC
import Testing
import Time

private let millisecond: Int64 = 1_000_000

private func written(_ field: TimeoutField, milliseconds: Int64) -> String {
    field.text(of: Duration.nanoseconds(milliseconds * millisecond)).bytes.string
}

@Test(arguments: [
    ("1H", 3_600_000 * millisecond), ("2M", 120_000 * millisecond), ("5S", 5000 * millisecond),
    ("200m", 200 * millisecond), ("1500u", 1_500_000), ("1000000n", 1_000_000),
    ("99999999m", 99_999_999 * millisecond), ("0n", 0), ("0H", 0), ("00000001n", 1), ("99999999n", 99_999_999),
    ("2562047H", 9_223_369_200_000_000_000), ("99999999S", 99_999_999_000_000_000),
])
func `a grpc-timeout is up to eight digits and a unit`(text: String, nanoseconds: Int64) {
    #expect(TimeoutField.grpc.read(text.bytes.span)?.nanoseconds == nanoseconds)
}

@Test(arguments: ["2562048H", "99999999H", "99999999M"])
func `a grpc-timeout beyond 292 years is the longest there is`(text: String) {
    let timeout = TimeoutField.grpc.read(text.bytes.span)
    #expect(timeout == (text == "99999999M" ? Duration.nanoseconds(5_999_999_940_000_000_000) : .max))
}

@Test(arguments: [
    "", "1", "m", "H", "1X", "1h", "1s", "1U", "-1S", "+1S", "1.5S", "123456789m", "000000001m", " 1m", "1m ", "1 m",
    "1mm", "1m1", "0x1m", "１m", "1e3m",
])
func `anything else is no grpc-timeout`(text: String) {
    #expect(TimeoutField.grpc.read(text.bytes.span) == nil)
}

@Test(arguments: [
    ("0", 0), ("1", 1), ("5000", 5000), ("0000000001", 1), ("9999999999", 9_999_999_999),
])
func `a connect-timeout-ms is up to ten digits`(text: String, milliseconds: Int64) {
    #expect(TimeoutField.connect.read(text.bytes.span)?.nanoseconds == milliseconds * millisecond)
}

@Test(arguments: ["", "-1", "+1", "abc", "1.5", "12345678901", "00000000001", " 1", "1 ", "1m", "0x1", "1e3"])
func `anything else is no connect-timeout-ms`(text: String) {
    #expect(TimeoutField.connect.read(text.bytes.span) == nil)
}

@Test(arguments: [
    (1, "1m"), (5000, "5000m"), (99_999_999, "99999999m"), (100_000_000, "100000S"), (9_999_999_999, "9999999S"),
    (99_999_999_999, "99999999S"), (100_000_000_000, "1666666M"), (5_999_999_999_999, "99999999M"),
    (6_000_000_000_000, "1666666H"),
])
func `a grpc-timeout is written in the finest unit that fits, from milliseconds up`(milliseconds: Int64, text: String) {
    #expect(written(.grpc, milliseconds: milliseconds) == text)
}

@Test(arguments: [(1, "1"), (5000, "5000"), (9_999_999_999, "9999999999"), (10_000_000_000, "9999999999")])
func `a connect-timeout-ms is written in whole milliseconds`(milliseconds: Int64, text: String) {
    #expect(written(.connect, milliseconds: milliseconds) == text)
}

@Test(arguments: [-1, 0, 1, 999_999, 1_000_000, 1_999_999] as [Int64])
func `what remains is rounded down, and never to nothing`(nanoseconds: Int64) {
    let remaining = Duration.nanoseconds(nanoseconds)
    #expect(TimeoutField.grpc.text(of: remaining).bytes.string == "1m")
    #expect(TimeoutField.connect.text(of: remaining).bytes.string == "1")
}

@Test func `the longest time-out can be written`() {
    #expect(TimeoutField.grpc.text(of: .max).bytes.string == "2562047H")
    #expect(TimeoutField.connect.text(of: .max).bytes.string == "9999999999")
}

@Test(arguments: TimeoutField.allCases)
func `what is written is read as no more, and hardly less`(field: TimeoutField) throws {
    var generator = SeededGenerator(seed: 11)
    for _ in 0..<2000 {
        let highest = Int64(1) << Int64.random(in: 21...53, using: &generator)
        let remaining = Duration.nanoseconds(.random(in: 1_000_000...highest, using: &generator))
        let text = field.text(of: remaining)
        let read = field.read(text.bytes)
        let again = try #require(read)
        #expect(again <= remaining)
        #expect(remaining.nanoseconds - again.nanoseconds < max(millisecond, remaining.nanoseconds / 10_000))
    }
}

@Test(arguments: TimeoutField.allCases)
func `random bytes are a time-out or none, and never a crash`(field: TimeoutField) {
    var generator = SeededGenerator(seed: 12)
    for _ in 0..<5000 {
        let count = Int.random(in: 0...12, using: &generator)
        let bytes = (0..<count).map { _ in "0123456789HMSmun -".utf8.randomElement(using: &generator) ?? 0 }
        if let timeout = field.read(bytes.span) { #expect(timeout >= Duration.zero) }
    }
}

@Test func `each protocol has its field for the time-out, and plain HTTP has none`() {
    #expect(
        RPCProtocol.allCases.map { $0.callerSide.timeoutField.map { "\($0.name)" } } == [
            "connect-timeout-ms", "connect-timeout-ms", "connect-timeout-ms", "grpc-timeout", "grpc-timeout",
            "grpc-timeout", nil,
        ]
    )
}
