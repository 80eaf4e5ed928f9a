/// Where an upstream is, and how to speak to it.
public struct UpstreamURL: Equatable, Sendable, CustomStringConvertible {
    /// How to speak to an upstream.
    public enum Scheme: String, Equatable, Sendable {
        /// HTTP/1.1 in clear text.
        case http
        /// HTTP/2 in clear text, known beforehand (RFC 9113 §3.3).
        case h2c
    }

    /// Where an upstream is.
    public enum Endpoint: Equatable, Sendable {
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
        case .unix(let path): scheme == .h2c ? "unix+h2c:\(path)" : "unix:\(path)"
        }
    }

    /// Reads `http://host[:port]` or `unix:/path`.
    ///
    /// - Throws: one line that says what is wrong with `text`, and what would be right.
    public init(_ text: String) throws(Malformed) {
        scheme = text.lowercased().hasPrefix("h2c://") || text.hasPrefix("unix+h2c:") ? .h2c : .http
        if text.hasPrefix("unix:") || text.hasPrefix("unix+h2c:") {
            let path = String(text.drop { $0 != ":" }.dropFirst())
            guard path.isSocketPath else {
                throw Malformed("\(Diagnostic.quote(text)) is no socket; write unix:/path, at most 107 bytes long")
            }
            endpoint = .unix(path: path)
            return
        }
        // Before anything is quoted: what stands before the "@" may be a password.
        if text.contains("@") { throw Malformed("an upstream URL has no user; write http://host:port") }
        guard let start = Self.endOfScheme(text) else {
            throw Malformed("\(Diagnostic.quote(text)) is no URL; write http://host:port or unix:/path")
        }
        if let reason = Self.refusal(of: text[..<start].lowercased()) { throw Malformed(reason) }
        var authority = String(text[start...])
        if authority.hasSuffix("/") { authority.removeLast() }
        if authority.contains(where: { "/?#".contains($0) }) {
            throw Malformed("an upstream URL has no path and no query; write http://host:port")
        }
        guard let address = HostPort(authority, defaultPort: 80), address.port > 0 else {
            throw Malformed("\(Diagnostic.quote(authority)) is no host with a port; write http://host:port")
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

    private static func endOfScheme(_ text: String) -> String.Index? {
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else {
            return text.hasPrefix("unix+h2c:") ? text.index(text.startIndex, offsetBy: 9) : nil
        }
        return text.index(colon, offsetBy: 3)
    }

    private static func refusal(of scheme: String) -> String? {
        switch scheme {
        case "http://": nil
        case "https://": "https:// is not supported yet; write http://host:port or unix:/path"
        case "h2c://": nil
        default: "\(Diagnostic.quote(scheme)) is not supported; write http://host:port or unix:/path"
        }
    }
}
