internal import HTTP

/// What can be spoken over TLS, by the names of ALPN (RFC 7301).
enum ApplicationProtocol {
    /// All of it, the best first.
    static let spoken = ["h2", "http/1.1"]

    /// What is offered to an upstream for the calls of one version of HTTP: they keep their version if the upstream speaks
    /// it, and HTTP/2 can do with HTTP/1.1.
    static func offered(for version: HTTPVersion) -> [String] {
        version == .http2 ? spoken : ["http/1.1"]
    }

    /// The version that was agreed on; without an agreement it is HTTP/1.1.
    static func version(_ name: String?) -> HTTPVersion {
        name == "h2" ? .http2 : .http1
    }
}
