internal import Configuration
package import Time

/// An upstream whose types are fetched by reflection, with what its settings of TLS came to.
package struct ReflectionPlan: Equatable, Sendable {
    /// How often they are fetched.
    package let refresh: Duration
    /// The server.
    package let server: FetchServer

    /// The name of the upstream.
    package var upstream: String { server.settings.name }

    /// Makes what the settings say; none if they name no upstream that there is.
    init?(_ settings: Settings, _ tls: TLSContexts) {
        guard let reflection = settings.types.reflection,
            let upstream = settings.upstream(named: reflection.upstream.text)
        else { return nil }
        refresh = reflection.refresh
        server = FetchServer(upstream, tls: tls.upstreams[upstream.name])
    }
}
