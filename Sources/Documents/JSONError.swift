internal import Bytes

/// A reason why a text cannot be read as JSON.
public struct JSONError: Error, Equatable, Sendable {
    /// The line, counted from 1.
    public let line: Int
    /// The column in characters, counted from 1.
    public let column: Int
    /// The problem; the text itself, which may be secret, is not quoted.
    public let text: String
    /// Whether the text may be JSON, but would take too much memory.
    public let isTooLarge: Bool

    /// An error at the end of the bytes that have been read.
    init(_ text: String, before offset: Int, of bytes: Span<UInt8>) {
        var (line, column) = (1, 0)
        for index in 0..<offset {
            if bytes[index] == UInt8(ascii: "\n") {
                (line, column) = (line + 1, 0)
            } else if bytes[index] & 0xc0 != 0x80 {
                column += 1
            }
        }
        (self.line, self.column, self.text, isTooLarge) = (line, max(1, column), text, false)
    }

    private init(tooLarge text: String) {
        (line, column, self.text, isTooLarge) = (1, 1, text, true)
    }

    /// The values of the text are nested so closely that their index would be too long.
    static var tooDense: JSONError {
        JSONError(tooLarge: "the JSON takes more than \(JSON.growth) times its size in memory")
    }
    /// The reader has no room for the text.
    static var noRoom: JSONError { JSONError(tooLarge: "the JSON takes more memory than limits.memory has left") }
}
