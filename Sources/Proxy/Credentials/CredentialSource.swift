public import Credentials

/// Where a credential comes from, and all that it takes to get it there.
///
/// Two sources that are equal give the same credential: it is fetched once for both.
public enum CredentialSource: Hashable, Sendable {
    /// The configuration or the environment; it never changes.
    case fixed([UInt8])
    /// A file that others write.
    case file(String)
    /// A program.
    case exec(ExecSource)
    /// A server that is asked.
    case http(HTTPSource)
    /// A token that is signed here.
    case jwt(JWTSource)

    /// The file that it is read from, if it is one.
    var path: String? {
        if case .file(let path) = self { path } else { nil }
    }

    /// Whether another credential can be had by asking for one.
    public var isFetched: Bool {
        switch self {
        case .fixed, .file: false
        case .exec, .http, .jwt: true
        }
    }
}
