internal import Configuration

/// An upstream whose addresses are checked, with what its settings of TLS came to.
package struct HealthPlan: Equatable, Sendable {
    let upstream: UpstreamSettings
    let health: UpstreamHealthSettings
    let tls: UpstreamTLS?

    /// Those of a configuration.
    static func all(_ settings: Settings, _ tls: TLSContexts) -> [HealthPlan] {
        settings.upstreams.compactMap { upstream in
            guard upstream.addresses.isBalanced, let health = upstream.addresses.health else { return nil }
            let tls = tls.upstreams[upstream.name]
            // A file of its TLS may be gone, and then it is not spoken to in clear text.
            guard (upstream.tls == nil) == (tls == nil) else { return nil }
            return HealthPlan(upstream: upstream, health: health, tls: tls)
        }
    }
}
