internal import Bytes

/// Where the parts of one field line lie: `name ":" SP value CRLF`, as nearly all lines are.
///
/// The fast way to read a head: a line is checked, its name made small and all of it copied in one pass. It accepts
/// nothing that `HTTP1HeadParser` rejects; what it does not recognise (a line that has not come whole, a tab, a fault)
/// is left to the parser, which knows what is wrong with it.
struct HTTP1FieldLine {
    /// Longer lines go the slow way; a line is copied before its end is known.
    private static let maxLength = 1024

    /// Where the copy of the line begins in the arena.
    let start: Int
    /// The number of bytes of the name.
    let nameCount: Int
    /// The value without the spaces around it, counted from the start of the line.
    let value: Range<Int>
    /// The number of bytes of the line with its CRLF.
    let count: Int

    /// Whether the line is written exactly as Martlet writes it, so that it can go on as it is.
    var isPlain: Bool { value.lowerBound == nameCount + 2 && value.upperBound + 2 == count }

    /// Recognises a line that begins at `start` and copies it to the arena; copies nothing if it does not.
    init?(_ bytes: Span<UInt8>, from start: Int, to arena: ByteArena) {
        let available = min(bytes.count - start, Self.maxLength)
        guard available > 0 else { return nil }
        var copier = Copier(count: available)
        let range = unsafe bytes.withUnsafeBytes { source in
            // A word is stored whole even if only a part of it belongs to the line.
            unsafe arena.add(room: available + 8) { unsafe copier.copy(source.baseAddress! + start, to: $0) }
        }
        guard !range.isEmpty else { return nil }
        self.start = Int(range.offset)
        nameCount = copier.name
        value = copier.first..<copier.last
        count = Int(range.count)
    }

    /// Copies one line and notes where its parts are.
    private struct Copier {
        let count: Int
        var name = 0
        var first = 0
        var last = 0

        init(count: Int) {
            self.count = count
        }

        /// The number of bytes of the line; 0 if it is not one of those recognised.
        mutating func copy(_ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer) -> Int {
            name = unsafe copyName(source, to: target)
            guard name > 0, name < count, unsafe byte(source, name) == UInt8(ascii: ":") else { return 0 }
            unsafe target.storeBytes(of: UInt8(ascii: ":"), toByteOffset: name, as: UInt8.self)
            first = name + 1
            while first < count, unsafe byte(source, first) == 0x20 {
                unsafe target.storeBytes(of: 0x20, toByteOffset: first, as: UInt8.self)
                first += 1
            }
            let end = unsafe copyValue(source, to: target)
            guard end + 1 < count, unsafe source.loadUnaligned(fromByteOffset: end, as: UInt16.self) == Self.crlf
            else { return 0 }
            unsafe target.storeBytes(of: Self.crlf, toByteOffset: end, as: UInt16.self)
            last = end
            while last > first, unsafe byte(source, last - 1) == 0x20 { last -= 1 }
            return end + 2
        }

        /// Copies letters, digits and `-`, a part of `tchar`, with letters made small, and says where they end.
        ///
        /// Bit 5 makes a letter small and is set in digits, in `-` and in the `:` behind the name already.
        private func copyName(_ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer) -> Int {
            var index = 0
            while index + 8 <= count {
                let word = unsafe source.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                let small = word | Self.ones &* 0x20
                unsafe target.storeBytes(of: small, toByteOffset: index, as: UInt64.self)
                let letters = Self.inRange(small, UInt8(ascii: "a"), UInt8(ascii: "z"))
                let digits = Self.inRange(word, UInt8(ascii: "0"), UInt8(ascii: "9"))
                let hyphens = Self.inRange(word, UInt8(ascii: "-"), UInt8(ascii: "-"))
                let others = ~(letters | digits | hyphens) & Self.tops
                if others != 0 { return index + others.trailingZeroBitCount / 8 }
                index += 8
            }
            while index < count {
                let byte = unsafe byte(source, index)
                let small = byte | 0x20
                guard small &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10 || byte == UInt8(ascii: "-")
                else { return index }
                unsafe target.storeBytes(of: small, toByteOffset: index, as: UInt8.self)
                index += 1
            }
            return index
        }

        /// The top bit of each byte of `word` that is ASCII and from `low` to `high`.
        @inline(__always)
        private static func inRange(_ word: UInt64, _ low: UInt8, _ high: UInt8) -> UInt64 {
            let ascii = word & ~tops
            let fromLow = ascii &+ ones &* UInt64(0x80 - low)
            let beyondHigh = ascii &+ ones &* UInt64(0x7f - high)
            return (fromLow ^ beyondHigh) & ~word & tops
        }

        /// Copies up to the first byte below 0x20, or 0x7f, and says where that is.
        ///
        /// Eight bytes at a time, as `Span.firstControl`; the lowest bit that is found is exact.
        private func copyValue(_ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer) -> Int {
            var index = first
            while index + 8 <= count {
                let word = unsafe source.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                unsafe target.storeBytes(of: word, toByteOffset: index, as: UInt64.self)
                let deletes = word ^ (Self.ones &* 0x7f)
                let found = ((word &- Self.ones &* 0x20) & ~word | (deletes &- Self.ones) & ~deletes) & Self.tops
                if found != 0 { return index + found.trailingZeroBitCount / 8 }
                index += 8
            }
            while index < count {
                let byte = unsafe byte(source, index)
                if byte < 0x20 || byte == 0x7f { return index }
                unsafe target.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
                index += 1
            }
            return index
        }

        @inline(__always)
        private func byte(_ source: UnsafeRawPointer, _ index: Int) -> UInt8 {
            unsafe source.load(fromByteOffset: index, as: UInt8.self)
        }

        private static let ones: UInt64 = 0x0101_0101_0101_0101
        private static let tops: UInt64 = 0x8080_8080_8080_8080
        /// CR and LF as they lie in memory.
        private static let crlf = UInt16(littleEndian: 0x0a0d)
    }
}
