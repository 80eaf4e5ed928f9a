package import Configuration

/// All that a configuration's settings of TLS came to when their files were read.
///
/// Made once and shared by all workers, so that none of them has to read files.
package struct TLSContexts: Sendable {
    /// What each listener speaks, by its settings.
    package internal(set) var listeners: [ListenerTLSSettings: ListenerTLS] = [:]
    /// What is spoken to each upstream, by its name.
    private(set) var upstreams: [String: UpstreamTLS] = [:]

    /// Makes those of a configuration without TLS.
    package init() {}

    /// Reads the files that the settings name, and reports what is wrong with them.
    init(_ settings: Settings, into diagnostics: Diagnostics) {
        for upstream in settings.upstreams {
            guard let tls = upstream.tls else { continue }
            upstreams[upstream.name] = UpstreamTLS(tls, of: upstream.url, at: upstream.mark, into: diagnostics)
        }
        for case let tls? in settings.listeners.map(\.tls) where listeners[tls] == nil {
            listeners[tls] = ListenerTLS(tls, into: diagnostics)
        }
    }
}
