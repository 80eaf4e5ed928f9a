/// Decodes a string of HPACK that is Huffman-coded (RFC 7541 §5.2), piece by piece.
///
/// nghttp2 decodes all others. The code is canonical: within a length, codes ascend with their symbols.
struct HPACKHuffman {
    /// The bits of a code that has come in part, and their number.
    private var code = 0
    private var bits = 0

    /// Decodes one byte of the string; false if no symbol has such a code.
    mutating func decode(_ byte: UInt8, into output: inout [UInt8]) -> Bool {
        for shift in stride(from: 7, through: 0, by: -1) {
            code = code << 1 | Int(byte >> UInt8(shift) & 1)
            bits += 1
            guard bits < Self.lengths.count else { return false }
            let index = code - Self.lengths[bits].code
            guard index >= 0, index < Self.lengths[bits].count else { continue }
            let symbol = Self.symbols[Self.lengths[bits].first + index]
            guard symbol < 256 else { return false }
            output.append(UInt8(symbol))
            (code, bits) = (0, 0)
        }
        return true
    }

    /// Whether the string may end here: behind a symbol there are at most 7 bits of padding, all of them ones.
    var mayEnd: Bool { bits < 8 && code == 1 << bits - 1 }

    /// The codes of one length: the first of them, their number, and the index of the first one's symbol.
    private typealias Length = (code: Int, count: Int, first: Int)

    private static let symbols: [Int] = bitCounts.indices.sorted { (bitCounts[$0], $0) < (bitCounts[$1], $1) }

    private static let lengths: [Length] = {
        var lengths: [Length] = [(0, 0, 0)]
        for bits in 1...30 {
            let last = lengths[bits - 1]
            let count = bitCounts.count { $0 == bits }
            lengths.append(((last.code + last.count) << 1, count, last.first + last.count))
        }
        return lengths
    }()

    /// The number of bits of each symbol's code (RFC 7541 appendix B); the last symbol is the end of the string.
    private static let bitCounts: [UInt8] = [
        13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28,
        28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15,
        6,
        12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15,
        5,
        6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20,
        22,
        22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22,
        21,
        20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22,
        22,
        23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26,
        26,
        28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27,
        27,
        28, 27, 27, 27, 27, 27, 26, 30,
    ]
}
