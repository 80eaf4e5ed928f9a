/// The content of a token file.
package enum TokenText {
    /// The largest file that is taken for a token, in bytes.
    package static let limit = 64 * 1024

    /// The token in `content`: without white space at its ends, and one that can stand in a header; else nil.
    package static func token(in content: [UInt8]) -> [UInt8]? {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0d).contains(byte) }
        let trimmed = content.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        guard !trimmed.isEmpty, content.count <= limit else { return nil }
        guard trimmed.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else { return nil }
        return Array(trimmed)
    }
}
