public import Time

/// Something secret that is put into a header, and when it ends.
public struct Credential: Equatable, Sendable {
    /// The value, which can stand in a header.
    public let value: [UInt8]
    /// When it ends; nil if nobody has told.
    public let expiry: WallTime?

    /// Makes a credential.
    public init(value: [UInt8], expiry: WallTime? = nil) {
        self.value = value
        self.expiry = expiry
    }
}

extension Credential: CustomStringConvertible, CustomReflectable {
    /// What may be shown of it, which is not the value.
    public var description: String { "a credential of \(value.count) bytes" }

    /// The same, for whoever looks into it.
    public var customMirror: Mirror { Mirror(self, children: ["count": value.count, "expiry": expiry as Any]) }
}
