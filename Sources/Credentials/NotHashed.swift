/// A part of a key that is compared, but does not count for its hash.
@propertyWrapper
public struct NotHashed<Value: Equatable & Sendable>: Hashable, Sendable {
    public var wrappedValue: Value

    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    public func hash(into hasher: inout Hasher) {}
}
