/// A position in the configuration file.
public struct Mark: Hashable, Comparable, CustomStringConvertible, Sendable {
    /// The line, counted from 1.
    public let line: Int
    /// The column in characters, counted from 1.
    public let column: Int

    /// Names the character at `line` and `column`, both counted from 1.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// The first character of a file.
    public static let start = Mark(line: 1, column: 1)

    /// The position as errors have it: `7:11`.
    public var description: String { "\(line):\(column)" }

    /// Whether the left position comes before the right one.
    public static func < (left: Mark, right: Mark) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}
