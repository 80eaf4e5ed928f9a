/// A number of JSON (RFC 8259 §6), kept as it is written; two are equal if their values are, however they are written.
///
/// Nothing is rounded, whatever the number of digits.
public struct JSONNumber: Equatable, Sendable {
    /// The number as it is written.
    public let text: String
    private let value: DecimalValue

    /// Reads a number; none if the text is not one of JSON.
    public init?(_ text: String) {
        guard let value = DecimalValue(text.utf8) else { return nil }
        self.text = text
        self.value = value
    }

    /// Takes an integer.
    init(_ integer: Int) {
        text = String(integer)
        // What Swift writes is a number.
        value = DecimalValue(text.utf8) ?? DecimalValue()
    }

    /// The nearest number with the precision of a `Double`; infinite beyond its range.
    public var approximation: Double { Double(text) ?? 0 }

    /// The number as an integer, if it is written as one, and fits.
    var integer: Int? {
        text.utf8.contains { ".eE".utf8.contains($0) } ? nil : Int(text)
    }

    public static func == (one: JSONNumber, other: JSONNumber) -> Bool { one.value == other.value }
}

/// What a number is worth: `digits` times ten to the power of `exponent`, with no zero at either end of the digits.
private struct DecimalValue: Equatable, Sendable {
    private var isNegative = false
    private var digits: [UInt8] = []
    private var exponent = 0

    /// Zero.
    init() {}

    /// Reads a number; none if the text is not one of JSON.
    init?(_ text: String.UTF8View) {
        var rest = text[...]
        isNegative = Self.read("-", from: &rest)
        let whole = Self.readDigits(from: &rest)
        guard whole.count == 1 || whole.first.map({ $0 != 0x30 }) ?? false else { return nil }
        digits = whole
        if Self.read(".", from: &rest) {
            let fraction = Self.readDigits(from: &rest)
            guard !fraction.isEmpty else { return nil }
            digits += fraction
            exponent = -fraction.count
        }
        if Self.read("eE", from: &rest) {
            guard let power = Self.readPower(from: &rest) else { return nil }
            exponent += power
        }
        guard rest.isEmpty else { return nil }
        trim()
    }

    private mutating func trim() {
        while digits.last == 0x30 {
            digits.removeLast()
            exponent += 1
        }
        digits.removeSubrange(..<(digits.firstIndex { $0 != 0x30 } ?? digits.endIndex))
        if digits.isEmpty { self = DecimalValue() }
    }

    private static func read(_ bytes: String, from rest: inout Substring.UTF8View) -> Bool {
        guard let first = rest.first, bytes.utf8.contains(first) else { return false }
        rest.removeFirst()
        return true
    }

    private static func readDigits(from rest: inout Substring.UTF8View) -> [UInt8] {
        let digits = Array(rest.prefix { 0x30...0x39 ~= $0 })
        rest.removeFirst(digits.count)
        return digits
    }

    /// A power so large that nobody means it is as large as may be.
    private static func readPower(from rest: inout Substring.UTF8View) -> Int? {
        let isNegative = read("-", from: &rest)
        if !isNegative { _ = read("+", from: &rest) }
        let digits = readDigits(from: &rest)
        guard !digits.isEmpty else { return nil }
        let maxExponent = Int.max / 4
        let power = min(Int(String(decoding: digits, as: UTF8.self)) ?? maxExponent, maxExponent)
        return isNegative ? -power : power
    }
}
