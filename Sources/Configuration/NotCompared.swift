/// A property that does not take part in the equality of its owner.
///
/// Settings carry the marks of what they were read from, and are still equal when only their place in the file changed:
/// that is how a reload tells what to keep.
@propertyWrapper
public struct NotCompared<Value: Sendable>: Hashable, Sendable {
    /// The property itself.
    public var wrappedValue: Value

    /// Wraps a value.
    public init(wrappedValue: Value) {
        self.wrappedValue = wrappedValue
    }

    /// True for all values.
    public static func == (left: NotCompared, right: NotCompared) -> Bool { true }

    /// Adds nothing.
    public func hash(into hasher: inout Hasher) {}
}
