/// Eight bytes of a text, which are looked at together: a class of bytes costs some twenty instructions for all of them.
///
/// Only the top bit of each byte of a result counts. As no byte of the text has it, no sum carries into the next byte.
struct ByteWord {
    private let bytes: UInt64
    private static let tops: UInt64 = 0x8080_8080_8080_8080
    private static let ones: UInt64 = 0x0101_0101_0101_0101

    @inline(__always)
    init(_ bytes: UInt64) { self.bytes = bytes }

    /// Whether all of them can be in a request target, as `HTTP1Grammar.isTarget` says of each.
    @inline(__always)
    var isTarget: Bool {
        // `"` and `#` differ in one bit, as do `<` and `>`.
        let others =
            unequal(to: 0x23, ignoring: 0x01) & unequal(to: 0x3e, ignoring: 0x02) & unequal(to: 0x5c, ignoring: 0)
        return areAll(atLeast(0x21) & below(0x7f) & others)
    }

    /// Whether all of them can be in a name of a host, as `HTTP1Grammar.isName` says of each.
    @inline(__always)
    var isName: Bool {
        let small = ByteWord(bytes | 0x20 &* Self.ones)
        let letters = small.atLeast(0x61) & small.below(0x7b)
        return areAll(letters | atLeast(0x2d) & below(0x3a) & unequal(to: 0x2f, ignoring: 0))
    }

    @inline(__always)
    private func areAll(_ marks: UInt64) -> Bool { (marks & ~bytes) & Self.tops == Self.tops }

    @inline(__always)
    private func atLeast(_ byte: UInt64) -> UInt64 { bytes &+ (0x80 &- byte) &* Self.ones }

    @inline(__always)
    private func below(_ byte: UInt64) -> UInt64 { ~atLeast(byte) }

    @inline(__always)
    private func unequal(to byte: UInt64, ignoring bit: UInt64) -> UInt64 {
        ((bytes | bit &* Self.ones) ^ byte &* Self.ones) &+ 0x7f &* Self.ones
    }
}

extension Span<UInt8> {
    /// Whether there are at least eight bytes and all pass, looked at eight at a time; the last eight may overlap others.
    @inline(__always)
    func areAll(_ pass: (ByteWord) -> Bool) -> Bool {
        guard count >= 8 else { return false }
        return unsafe withUnsafeBytes { bytes in
            let start = bytes.baseAddress!
            let last = bytes.count &- 8
            var index = 0
            while index < last {
                guard unsafe pass(ByteWord(start.loadUnaligned(fromByteOffset: index, as: UInt64.self))) else {
                    return false
                }
                index &+= 8
            }
            return unsafe pass(ByteWord(start.loadUnaligned(fromByteOffset: last, as: UInt64.self)))
        }
    }
}
