internal import Credentials
internal import Proxy

/// Where the credentials of a daemon come from.
struct CredentialHolders {
    /// Those that the configuration names, in the order of the file.
    var named: [NamedCredential] = []
    let files: TokenFiles
    let manager: CredentialManager
}

extension CredentialHolders {
    /// The value that the credential with a name has now; none if there is none.
    func value(named name: String) -> [UInt8]? {
        guard let source = named.first(where: { $0.name == name })?.source else { return nil }
        switch source {
        case .fixed(let value): return value
        case .file(let path): return files.token(path)
        case .exec, .http, .jwt:
            guard let report = manager.report(on: source), report.isValid else { return nil }
            return report.state.credential?.value
        }
    }
}
