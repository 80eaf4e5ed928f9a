internal import Bytes

/// The content of a token file.
public enum TokenText {
    /// The largest file that is taken for a token, in bytes.
    public static let limit = 64 * 1024

    /// The token in `content`: without white space at its ends, and one that can stand in a header; else nil.
    public static func token(in content: [UInt8]) -> [UInt8]? {
        let trimmed = content.span.trimmedOfWhiteSpace.array
        guard !trimmed.isEmpty, content.count <= limit else { return nil }
        return trimmed.allSatisfy { $0 >= 0x20 && $0 != 0x7f } ? trimmed : nil
    }
}
