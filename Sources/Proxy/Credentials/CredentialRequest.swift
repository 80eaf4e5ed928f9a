package import Credentials

/// What workers ask of the manager of credentials.
package enum CredentialRequest: Sendable {
    /// A call needs it, or soon will.
    case fetch(CredentialSource)
    /// An upstream has rejected this value of it.
    case rejected(CredentialSource, value: [UInt8], CredentialRejection)
    /// The upstream of this name has accepted a value that was fetched since it rejected the one before.
    case accepted(CredentialSource, by: String)
}
