/// Where an upstream is, and how to speak to it.
public struct UpstreamURL: Hashable, Sendable, CustomStringConvertible {
    /// How to speak to an upstream.
    public enum Scheme: String, Hashable, Sendable {
        /// HTTP/1.1 in clear text.
        case http
        /// HTTP/2 in clear text, without asking first (RFC 9113 §3.3).
        case h2c
        /// TLS; what is spoken is agreed on there.
        case https

        /// The port where a URL names none.
        public var defaultPort: UInt16 {
            switch self {
            case .http, .h2c: 80
            case .https: 443
            }
        }
    }

    /// Where an upstream is.
    public enum Endpoint: Hashable, Sendable {
        /// A host, which may be a name to look up, and a port.
        case tcp(HostPort)
        /// A Unix socket in the file system.
        case unix(path: String)
    }

    /// How to speak to the upstream.
    public let scheme: Scheme
    /// Where the upstream is.
    public let endpoint: Endpoint

    /// Whether the bytes stay on this machine: a Unix socket, a loopback address or `localhost`.
    ///
    /// Only then a credential may go there in clear text.
    public var isLoopback: Bool {
        switch endpoint {
        case .tcp(let address): address.isLoopback
        case .unix: true
        }
    }

    /// The URL as the file writes it, with the port always said.
    public var description: String {
        switch endpoint {
        case .tcp(let address): "\(scheme.rawValue)://\(address)"
        case .unix(let path): (scheme == .h2c ? Self.unixH2C : Self.unix) + path
        }
    }

    private static let unix = "unix:"
    private static let unixH2C = "unix+h2c:"

    /// Reads `http://host[:port]`, `https://host[:port]`, `h2c://host[:port]`, `unix:/path` or `unix+h2c:/path`.
    ///
    /// - Throws: one line that says what is wrong with `text`, and what would be right.
    public init(_ text: String) throws(Malformed) {
        for (prefix, scheme) in [(Self.unix, Scheme.http), (Self.unixH2C, .h2c)] where text.hasPrefix(prefix) {
            let path = String(text.dropFirst(prefix.count))
            guard path.isSocketPath else {
                throw Malformed(
                    "\(Diagnostic.quote(text)) is not a valid socket; write \(prefix)/path, at most 107 bytes long"
                )
            }
            self.scheme = scheme
            endpoint = .unix(path: path)
            return
        }
        // Before anything is quoted: what stands before the "@" may be a password.
        if text.unicodeScalars.contains("@") {
            throw Malformed("an upstream URL cannot contain a user; write http://host:port")
        }
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else {
            throw Malformed(
                """
                \(Diagnostic.quote(text)) is not a valid URL; write http://host:port, h2c://host:port, https://host \
                or unix:/path
                """
            )
        }
        guard let scheme = Scheme(rawValue: text[..<colon].lowercased()) else {
            let given = Diagnostic.quote(text[..<colon].lowercased() + "://")
            throw Malformed("\(given) is not supported; write http://, https:// or h2c:// and a host, or unix:/path")
        }
        self.scheme = scheme
        var authority = String(text[text.index(colon, offsetBy: 3)...])
        if authority.hasSuffix("/") { authority.removeLast() }
        let example = "\(scheme.rawValue)://host:port"
        if authority.unicodeScalars.contains(where: { "/?#".unicodeScalars.contains($0) }) {
            throw Malformed("an upstream URL cannot contain a path or a query; write \(example)")
        }
        guard let address = HostPort(authority, defaultPort: scheme.defaultPort), address.port > 0 else {
            throw Malformed("\(Diagnostic.quote(authority)) is not a valid host and port; write \(example)")
        }
        endpoint = .tcp(address)
    }

    /// What is wrong with a URL.
    public struct Malformed: Error {
        /// One line: what is wrong, and what would be right.
        public let message: String

        init(_ message: String) {
            self.message = message
        }
    }
}
