internal import Bytes

/// Finds the numbers of a text in JSON, in their order: the parser rounds those that no machine has.
struct JSONNumberScanner {
    /// The numbers, in their order.
    private(set) var numbers: [JSONNumber] = []
    /// The text with a small number in the place of each, and as long.
    private(set) var text: [UInt8]

    /// Reads a text, which need not be JSON: where it is not, that is still so with other numbers in it.
    init(_ bytes: Span<UInt8>) {
        text = bytes.array
        var index = 0
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: "\""): index = endOfString(from: index)
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): index = readNumber(at: index)
            default: index += 1
            }
        }
    }

    private func endOfString(from start: Int) -> Int {
        var index = start + 1
        while index < text.count, text[index] != UInt8(ascii: "\"") {
            index += text[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return index + 1
    }

    private mutating func readNumber(at start: Int) -> Int {
        var end = start + 1
        while end < text.count, Self.isOfNumber(text[end]) { end += 1 }
        guard let number = JSONNumber(String(decoding: text[start..<end], as: UTF8.self)) else { return end }
        numbers.append(number)
        text[start] = UInt8(ascii: "0")
        for index in start + 1..<end { text[index] = UInt8(ascii: " ") }
        return end
    }

    private static func isOfNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }
}
