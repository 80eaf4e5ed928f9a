internal import Configuration

/// What a reload tells connections to an upstream apart by: it keeps them if this is equal.
package struct PoolIdentity: Equatable, Sendable {
    let settings: UpstreamSettings
    /// What the files of its TLS say, which may change without the settings.
    let tls: UpstreamTLS?

    init(_ settings: UpstreamSettings, _ tls: UpstreamTLS?) {
        (self.settings, self.tls) = (settings, tls)
    }
}

extension Plan {
    /// The identities of the pools, by the names of their upstreams.
    package var pools: [String: PoolIdentity] {
        let all = settings.upstreams.map { ($0.name, PoolIdentity($0, tls.upstreams[$0.name])) }
        return Dictionary(all) { first, _ in first }
    }
}
