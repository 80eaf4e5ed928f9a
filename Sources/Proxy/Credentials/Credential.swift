package import Time

/// Something secret that is put into a header, and when it ends.
package struct Credential: Equatable, Sendable {
    /// The value, which can stand in a header.
    package let value: [UInt8]
    /// When it ends; nil if nobody has told.
    package let expiry: WallTime?

    /// Makes a credential.
    package init(value: [UInt8], expiry: WallTime? = nil) {
        self.value = value
        self.expiry = expiry
    }
}

extension Credential: CustomStringConvertible, CustomReflectable {
    /// What may be shown of it, which is not the value.
    package var description: String { "a credential of \(value.count) bytes" }

    /// The same, for whoever looks into it.
    package var customMirror: Mirror { Mirror(self, children: ["count": value.count, "expiry": expiry as Any]) }
}
