package import Configuration
internal import Telemetry

/// Reads a configuration as a whole: what every part of it can check by itself, and what only the proxy can, which
/// knows the kinds of interceptors.
package struct Plan {
    /// The settings; good for use only if nothing was reported.
    package let settings: Settings
    /// What the workers need that was read and made meanwhile.
    package let acquired: Acquired
    /// The files that tokens come from.
    package let tokenFiles: [String]
    /// The files that logs go to.
    package let logFiles: [MarkedString]
    /// The credentials that interceptors name.
    package let credentials: [NamedCredential]
    /// What the settings of TLS came to.
    package let tls: TLSContexts

    /// Reads the root of a file, compiles everything once, and reports what is wrong.
    package init(_ root: Node?, kinds: Registry, into diagnostics: Diagnostics) {
        let responding = kinds.kinds.filter(\.responds).map(\.name)
        let settings = Settings(root, into: diagnostics, respondingKinds: Set(responding))
        let acquired = Acquired()
        let calls = NamedCalls(settings, acquired, into: diagnostics)
        calls.checkFiles(into: diagnostics)
        let context = CompileContext(
            credentials: CredentialStore(),
            calls: calls,
            acquired: acquired,
            lineWriters: nil,
            kinds: kinds
        )
        let counters = WorkerCounters()
        var compiler = ChainCompiler(settings, context: context, counters: counters, diagnostics: diagnostics)
        let chains = compiler.finish()
        for route in settings.routes {
            if let match = route.match { _ = Condition(match, into: diagnostics) }
            guard let upstream = route.upstream.flatMap({ settings.upstream(named: $0) }) else { continue }
            let chain = route.chain.flatMap { chains.named[$0] } ?? chains.default
            chain.reportRejections(to: upstream, of: settings.items(of: route), into: diagnostics)
        }
        for upstream in settings.upstreams { _ = RequestDefaults(upstream.defaults, into: diagnostics) }
        self.settings = settings
        self.acquired = acquired
        tls = TLSContexts(settings, into: diagnostics)
        tokenFiles = context.credentials.paths
        credentials = context.credentials.named
        logFiles = context.logFiles
    }
}

extension CompiledChain {
    /// Reports what the links without a condition have against an upstream.
    fileprivate func reportRejections(
        to upstream: UpstreamSettings,
        of items: [ChainItem],
        into diagnostics: Diagnostics
    ) {
        for link in links where link.condition == nil {
            guard let rejection = link.interceptor.rejection(of: upstream) else { continue }
            let mark = items.first { $0.name == link.name }?.kindMark ?? upstream.mark
            diagnostics.report(rejection, at: mark)
        }
    }
}
