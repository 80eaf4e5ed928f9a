/// How messages are written in JSON.
public struct JSONForm: Sendable, Equatable {
    /// Whether members are named as in the definition, and not in lowerCamelCase.
    public var keepsNames = false
    /// Whether fields that have their default value are written.
    public var writesDefaults = false
    /// Whether enumerations are written as numbers.
    public var writesEnumNumbers = false

    /// The usual form.
    public init() {}
}
