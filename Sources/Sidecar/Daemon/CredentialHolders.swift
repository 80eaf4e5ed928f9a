internal import Credentials
internal import Proxy

/// Where the credentials of a daemon come from.
struct CredentialHolders {
    /// Those that the configuration names, in the order of the file.
    var named: [NamedCredential] = []
    let files: TokenFiles
    let manager: CredentialManager
}
