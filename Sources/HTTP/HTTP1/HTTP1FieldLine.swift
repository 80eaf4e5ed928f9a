/// Where the parts of one field line lie: `name ":" SP value CRLF`, as nearly all lines are.
///
/// The fast way to read a head: everything is found in one pass over raw bytes. It accepts nothing that
/// `HTTP1HeadParser` refuses; what it does not recognise (a line that has not come whole, a tab, a fault) is left to
/// the parser, which knows what is wrong with it.
struct HTTP1FieldLine {
    /// The number of bytes of the name.
    let nameCount: Int
    /// The value without the spaces around it, counted from the start of the line.
    let value: Range<Int>
    /// The number of bytes of the line with its CRLF.
    let count: Int

    /// Whether the line is written exactly as Martlet writes it, so that it can go on as it is.
    var isPlain: Bool { value.lowerBound == nameCount + 2 && value.upperBound + 2 == count }

    /// Recognises a line that begins at `start`.
    init?(_ bytes: Span<UInt8>, from start: Int) {
        let found = unsafe bytes.withUnsafeBytes { raw -> (Int, Int, Int, Int)? in
            guard start < raw.count else { return nil }
            return unsafe Self.scan(raw.baseAddress! + start, raw.count - start)
        }
        guard let (name, first, last, end) = found else { return nil }
        nameCount = name
        value = first..<last
        count = end
    }

    private static func scan(_ line: UnsafeRawPointer, _ count: Int) -> (Int, Int, Int, Int)? {
        var index = 0
        while index < count, unsafe isNameByte(line.load(fromByteOffset: index, as: UInt8.self)) { index += 1 }
        let name = index
        guard name > 0, index < count, unsafe line.load(fromByteOffset: index, as: UInt8.self) == UInt8(ascii: ":")
        else { return nil }
        index += 1
        while index < count, unsafe line.load(fromByteOffset: index, as: UInt8.self) == 0x20 { index += 1 }
        let first = index
        index = unsafe firstControl(line, from: index, count)
        guard index + 1 < count,
            unsafe line.loadUnaligned(fromByteOffset: index, as: UInt16.self) == 0x0a0d  // CR LF in memory
        else { return nil }
        var last = index
        while last > first, unsafe line.load(fromByteOffset: last - 1, as: UInt8.self) == 0x20 { last -= 1 }
        return (name, first, last, index + 2)
    }

    /// Letters, digits, `-` and `_`: a part of `tchar`.
    @inline(__always)
    private static func isNameByte(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: "-") || byte &- UInt8(ascii: "0") < 10
            || byte == UInt8(ascii: "_")
    }

    /// The first byte below 0x20, or 0x7f; eight at a time, as `Span.firstControl`.
    ///
    /// The lowest bit found is exact.
    private static func firstControl(_ line: UnsafeRawPointer, from start: Int, _ count: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var index = start
        while index + 8 <= count {
            let word = unsafe line.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let deletes = word ^ (ones &* 0x7f)
            let found = ((word &- ones &* 0x20) & ~word | (deletes &- ones) & ~deletes) & (ones &* 0x80)
            if found != 0 { return index + found.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < count {
            let byte = unsafe line.load(fromByteOffset: index, as: UInt8.self)
            if byte < 0x20 || byte == 0x7f { return index }
            index += 1
        }
        return count
    }
}
