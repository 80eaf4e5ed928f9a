internal import Bytes

/// Numbers as JSON writes them (RFC 8259 §6), and what they are worth.
enum JSONNumberText {
    /// The length of the number that a text begins with; 0 if it begins with none.
    static func length(_ text: Span<UInt8>) -> Int {
        var index = text.count > 0 && text[0] == UInt8(ascii: "-") ? 1 : 0
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
        return index
    }

    private static func digits(_ text: Span<UInt8>, from start: Int) -> Int {
        var end = start
        while end < text.count, isDigit(text[end]) { end += 1 }
        return end - start
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    }

    /// The value of a number if it is an integer of this type, however it is written: `1e2` and `1.0` are.
    static func integer<Integer: FixedWidthInteger>(_ number: Span<UInt8>) -> Integer? {
        let isNegative = number[0] == UInt8(ascii: "-")
        var magnitude: UInt64 = 0
        // How many more digits stand behind the point than have been taken, and zeros that count only if a digit follows.
        var (power, zeros) = (0, 0)
        var index = isNegative ? 1 : 0
        var isFraction = false
        while index < number.count, number[index] | 0x20 != UInt8(ascii: "e") {
            defer { index += 1 }
            guard isDigit(number[index]) else {
                isFraction = true
                continue
            }
            if isFraction { power -= 1 }
            guard number[index] != UInt8(ascii: "0") else {
                zeros += magnitude > 0 ? 1 : 0
                continue
            }
            guard zeros < 20 else { return nil }
            for _ in 0..<zeros { guard multiply(&magnitude, adding: 0) else { return nil } }
            zeros = 0
            guard multiply(&magnitude, adding: UInt64(number[index] - UInt8(ascii: "0"))) else { return nil }
        }
        guard magnitude > 0 else { return 0 }
        if index < number.count { power += exponent(number, from: index + 1) }
        power += zeros
        guard 0..<20 ~= power else { return nil }
        for _ in 0..<power { guard multiply(&magnitude, adding: 0) else { return nil } }
        guard isNegative else { return Integer(exactly: magnitude) }
        return magnitude <= 1 << 63 ? Integer(exactly: Int64(truncatingIfNeeded: 0 &- magnitude)) : nil
    }

    /// The value of a number, rounded.
    static func double(_ number: Span<UInt8>) -> Double? { finite(Double(number.string)) }

    /// The value of a number, rounded.
    static func float(_ number: Span<UInt8>) -> Float? { finite(Float(number.string)) }

    private static func finite<Number: BinaryFloatingPoint>(_ number: Number?) -> Number? {
        number.flatMap { $0.isFinite ? $0 : nil }
    }

    private static func multiply(_ magnitude: inout UInt64, adding digit: UInt64) -> Bool {
        let (product, isTooLarge) = magnitude.multipliedReportingOverflow(by: 10)
        let (sum, carries) = product.addingReportingOverflow(digit)
        magnitude = sum
        return !isTooLarge && !carries
    }

    /// The exponent, which counts as a million if it is more.
    private static func exponent(_ number: Span<UInt8>, from start: Int) -> Int {
        var value = 0
        for index in start..<number.count where isDigit(number[index]) {
            value = min(value * 10 + Int(number[index] - UInt8(ascii: "0")), 1_000_000)
        }
        return number[start] == UInt8(ascii: "-") ? -value : value
    }
}
