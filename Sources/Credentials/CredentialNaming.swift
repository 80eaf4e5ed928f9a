/// Whether configurations name a credential.
///
/// ```
///            name                unname
/// never ──────────────▶ named ◀──────────▶ retired
///                                 name
/// ```
package enum CredentialNaming: Sendable {
    /// No configuration has named it: only calls need it.
    case never
    /// The configuration names it.
    case named
    /// A configuration of before named it, and this one does not.
    case retired

    /// Notes that the configuration names the credential.
    package mutating func name() { self = .named }

    /// Notes that another configuration has come, which does not name the credential as far as is known.
    package mutating func unname() {
        if self == .named { self = .retired }
    }
}
