public import Documents

/// Where a response in JSON has a credential, and when that ends.
public struct CredentialFields: Equatable, Sendable {
    /// The value, a string.
    public var value: JSONPointer
    /// For how many seconds it is good, a number or a string.
    public var expiresIn: JSONPointer?
    /// When it ends: seconds since 1970, a number or a string, or a time of RFC 3339.
    public var expiresAt: JSONPointer?

    /// Says where things are; if both tell the end and differ, the earlier counts.
    public init(value: JSONPointer, expiresIn: JSONPointer? = nil, expiresAt: JSONPointer? = nil) {
        self.value = value
        self.expiresIn = expiresIn
        self.expiresAt = expiresAt
    }
}
