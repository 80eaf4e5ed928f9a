/// A part of a key that is compared, but does not count for its hash.
@propertyWrapper
public struct NotHashed<Value: Equatable & Sendable>: Hashable, Sendable {
    /// The part itself.
    public var wrappedValue: Value

    /// Takes the part.
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    public func hash(into hasher: inout Hasher) {}
}
