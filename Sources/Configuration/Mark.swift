/// A position in the configuration file.
public struct Mark: Hashable, Comparable, Sendable {
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

    /// Whether the left position comes before the right one.
    public static func < (left: Mark, right: Mark) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// A property that does not take part in the equality of its owner.
///
/// Settings carry the marks of what they were read from, and are still equal when only their place in the file changed:
/// that is how a reload tells what to keep.
@propertyWrapper
public struct NotCompared<Value: Sendable>: Equatable, Sendable {
    /// The property itself.
    public var wrappedValue: Value

    /// Wraps a value.
    public init(wrappedValue: Value) {
        self.wrappedValue = wrappedValue
    }

    /// True for all values.
    public static func == (left: NotCompared, right: NotCompared) -> Bool { true }
}
