/// What can be spoken over TLS, by the names of ALPN (RFC 7301).
enum ApplicationProtocol {
    /// All of it, to upstreams and to callers, the best first.
    static let spoken = ["http/1.1"]
}
