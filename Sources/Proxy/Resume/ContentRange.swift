internal import Bytes

/// The value of `content-range` in a response with one range: `bytes 500-999/1234` (RFC 9110 §14.4).
struct ContentRange: Equatable {
    /// The first byte, from 0.
    let first: Int
    /// The last byte, which belongs to the range.
    let last: Int
    /// The length of the whole representation.
    let total: Int

    init(first: Int, last: Int, total: Int) {
        (self.first, self.last, self.total) = (first, last, total)
    }

    /// Reads the value; nil if it is malformed, is not in bytes, or does not say the total length.
    init?(_ value: Span<UInt8>) {
        let value = value.trimmed
        guard value.count > 6, value.extracting(0..<6).equalsIgnoringCase("bytes "),
            let slash = value.firstIndex(of: UInt8(ascii: "/")),
            let dash = value.firstIndex(of: UInt8(ascii: "-")), dash < slash,
            let first = value.extracting(6..<dash).decimal,
            let last = value.extracting(dash + 1..<slash).decimal,
            let total = value.extracting(slash + 1..<value.count).decimal,
            first <= last, last < total
        else { return nil }
        self.init(first: first, last: last, total: total)
    }

    /// How many bytes it has.
    var count: Int { last - first + 1 }
}
