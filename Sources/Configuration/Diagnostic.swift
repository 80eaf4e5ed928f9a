internal import Bytes

/// One error in a configuration file, or one warning: what is wrong, and what would be right.
public struct Diagnostic: Error, Hashable, Sendable {
    /// Where the error is.
    public let mark: Mark
    /// One line: what is wrong, a semicolon, and what would be right.
    public let message: String

    /// Says that `message` holds at `mark`; control characters, as the name of a file may have them, are escaped.
    public init(mark: Mark, message: String) {
        self.mark = mark
        self.message = message.unicodeScalars.contains(where: Self.isControl) ? Self.escaped(message) : message
    }

    /// The line `file:line:column: what is wrong; what would be right`.
    public func line(file: String) -> String {
        "\(file):\(mark.line):\(mark.column): \(message)"
    }

    /// Text from the file, fit to stand in a message: in quotes, on one line, without credentials and control characters, and
    /// not long.
    public static func quote(_ text: String) -> String {
        var quoted = "\""
        for (index, scalar) in MaskedText.masked(text, .url).unicodeScalars.enumerated() {
            guard index < 60 else { return quoted + "…\"" }
            quoted += escaped(String(scalar))
        }
        return quoted + "\""
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || 0x7f..<0xa0 ~= scalar.value
    }

    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.map { isControl($0) ? "\\u{\(String($0.value, radix: 16))}" : String($0) }.joined()
    }
}
