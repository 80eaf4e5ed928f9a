/// Where a named call goes: a server, and behind it a path and a query that may be templates.
public struct CallURL: Equatable, Sendable {
    /// The server, over `http` or `https`.
    public let server: UpstreamURL
    /// The path, as it is sent but for its templates; begins with `/`.
    public let path: String
    /// What the URL has behind `?`; none if it has no `?`.
    public let query: String?

    /// Whether whoever is on the way can read the call: it is in clear text and leaves the machine.
    public var isExposed: Bool { server.scheme != .https && !server.isLoopback }

    /// Stands for a URL that is wrong, which was reported, so that what is beside it can be checked as well.
    static let reported = CallURL()

    private init() {
        server = UpstreamURL(encryptedTo: "unknown")
        path = "/"
        query = nil
    }

    /// Reads `http://host[:port]/path?query` or the same with `https`.
    ///
    /// - Throws: one line that says what is wrong with `text`, and what would be right.
    init(_ text: String) throws(UpstreamURL.Malformed) {
        // Nothing is quoted but the scheme and a good host: what stands elsewhere may be a password.
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else {
            throw UpstreamURL.Malformed("a call needs an absolute URL; write for example https://id.example/login")
        }
        let scheme = text[..<colon].lowercased()
        guard ["http", "https"].contains(scheme) else {
            let given = Diagnostic.quote(scheme + "://")
            throw UpstreamURL.Malformed("\(given) is not supported; write https:// or http:// and a host")
        }
        let start = text.index(colon, offsetBy: 3)
        let end = text[start...].unicodeScalars.firstIndex { "/?#".unicodeScalars.contains($0) } ?? text.endIndex
        let (authority, rest) = (text[start..<end], text[end...])
        if authority.unicodeScalars.contains("@") {
            throw UpstreamURL.Malformed("the URL of a call cannot contain a user; put credentials into \"headers\"")
        }
        if authority.unicodeScalars.contains("{") {
            throw UpstreamURL.Malformed(
                "the host of a call cannot be a template; use templates only in the path and the query"
            )
        }
        if rest.unicodeScalars.contains("#") {
            throw UpstreamURL.Malformed("the URL of a call cannot contain a fragment; write %23 for a #")
        }
        server = try UpstreamURL("\(scheme)://\(authority)")
        let parts = rest.unicodeScalars.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = parts[0].isEmpty ? "/" : String(parts[0])
        query = parts.count > 1 ? String(parts[1]) : nil
    }
}

extension UpstreamURL {
    fileprivate init(encryptedTo host: String) {
        scheme = .https
        endpoint = .tcp(HostPort(host: host, port: Scheme.https.defaultPort))
    }
}
