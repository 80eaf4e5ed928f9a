internal import Bytes

/// A number of JSON (RFC 8259 §6), kept as it is written; two are equal if their values are, however they are written.
///
/// Nothing is rounded, whatever the number of digits.
public struct JSONNumber: Equatable, Sendable {
    /// The number as it is written.
    public let text: String

    /// Reads a number; none if the text is not one of JSON.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard !bytes.isEmpty, Self.length(bytes.span, from: 0) == bytes.count else { return nil }
        self.text = text
    }

    /// Takes an integer.
    init(_ integer: Int) { text = String(integer) }

    /// Takes the text of a number.
    init(valid text: String) { self.text = text }

    /// The nearest number with the precision of a `Double`; infinite beyond its range.
    public var approximation: Double { Double(text) ?? 0 }

    public static func == (one: JSONNumber, other: JSONNumber) -> Bool {
        DecimalValue(one.text.utf8) == DecimalValue(other.text.utf8)
    }

    /// Returns the length of the number at an offset of a text; 0 if there is none, or bytes follow that numbers have.
    static func length(_ text: Span<UInt8>, from start: Int) -> Int {
        var index = start
        if index < text.count, text[index] == UInt8(ascii: "-") { index += 1 }
        let whole = digits(text, from: index)
        guard whole > 0, whole == 1 || text[index] != UInt8(ascii: "0") else { return 0 }
        index += whole
        if index < text.count, text[index] == UInt8(ascii: ".") {
            let fraction = digits(text, from: index + 1)
            guard fraction > 0 else { return 0 }
            index += 1 + fraction
        }
        if index < text.count, text[index] | 0x20 == UInt8(ascii: "e") {
            index += 1
            if index < text.count, text[index] == UInt8(ascii: "+") || text[index] == UInt8(ascii: "-") { index += 1 }
            let power = digits(text, from: index)
            guard power > 0 else { return 0 }
            index += power
        }
        return index < text.count && text[index].isOfNumber ? 0 : index - start
    }

    private static func digits(_ text: Span<UInt8>, from start: Int) -> Int {
        var end = start
        while end < text.count, text[end] &- 0x30 < 10 { end += 1 }
        return end - start
    }

    /// Returns the value of a valid number that is written as an integer, if it fits.
    static func integer(_ text: Span<UInt8>) -> Int? {
        let isNegative = text[0] == UInt8(ascii: "-")
        var value = 0
        for index in (isNegative ? 1 : 0)..<text.count {
            let digit = text[index] &- 0x30
            guard digit < 10 else { return nil }
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) =
                isNegative
                ? product.subtractingReportingOverflow(Int(digit)) : product.addingReportingOverflow(Int(digit))
            guard !overflow, !carry else { return nil }
            value = sum
        }
        return value
    }
}

extension UInt8 {
    /// Whether numbers have such a byte.
    var isOfNumber: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }
}

/// What a valid number is worth: `digits` times ten to the power of `exponent`, with no zero at either end of the digits.
private struct DecimalValue: Equatable {
    private var isNegative = false
    /// Digits, and perhaps a point between them.
    private var digits: Substring.UTF8View
    private var exponent = 0

    init(_ number: String.UTF8View) {
        let mark = number.firstIndex { $0 | 0x20 == UInt8(ascii: "e") } ?? number.endIndex
        digits = number[..<mark]
        isNegative = digits.first == UInt8(ascii: "-")
        if isNegative { digits.removeFirst() }
        if mark < number.endIndex { exponent = Self.power(number[number.index(after: mark)...]) }
        let hasPoint = digits.contains(UInt8(ascii: "."))
        if hasPoint, let point = digits.firstIndex(of: UInt8(ascii: ".")) {
            exponent -= digits.distance(from: point, to: digits.endIndex) - 1
        }
        while let last = digits.last, last == 0x30 || last == UInt8(ascii: ".") {
            digits.removeLast()
            if last == 0x30 { exponent += 1 }
        }
        digits = digits[(digits.firstIndex { $0 != 0x30 && $0 != UInt8(ascii: ".") } ?? digits.endIndex)...]
        if digits.isEmpty { (isNegative, exponent) = (false, 0) }
    }

    static func == (one: DecimalValue, other: DecimalValue) -> Bool {
        let isDigit = { (byte: UInt8) in byte != UInt8(ascii: ".") }
        return one.isNegative == other.isNegative && one.exponent == other.exponent
            && one.digits.lazy.filter(isDigit).elementsEqual(other.digits.lazy.filter(isDigit))
    }

    /// A power so large that nobody means it is as large as may be.
    private static func power(_ text: Substring.UTF8View) -> Int {
        let isNegative = text.first == UInt8(ascii: "-")
        let digits = text.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
        let maxExponent = Int.max / 4
        let power = min(Int(Substring(digits)) ?? maxExponent, maxExponent)
        return isNegative ? -power : power
    }
}
