public import Configuration
internal import Telemetry

/// Checks what only the proxy itself can: the kinds of interceptors and their options, templates, patterns.
public enum Blueprint {
    /// Compiles everything once and reports what is wrong.
    ///
    /// - Returns: the files that tokens come from.
    public static func check(_ settings: Settings, into diagnostics: Diagnostics) -> [String] {
        let context = CompileContext(tokens: TokenStore(), lineWriters: LineWriters())
        let compiler = ChainCompiler(context: context, counters: WorkerCounters(), diagnostics: diagnostics)
        _ = compiler.chains(of: settings)
        for route in settings.routes {
            if let match = route.match { _ = Condition(match, into: diagnostics) }
        }
        checkClearText(settings, into: diagnostics)
        return context.tokens.paths
    }

    /// A token that every call gets must not be able to reach an upstream that anybody on the way can read.
    private static func checkClearText(_ settings: Settings, into diagnostics: Diagnostics) {
        for route in settings.routes {
            guard let upstream = route.upstream.flatMap({ settings.upstream(named: $0) }), !upstream.url.isLoopback
            else { continue }
            for item in settings.items(of: route) where item.kind == "token" && item.when == nil {
                guard item.options["allow_clear_text"]?.text != "true" else { continue }
                diagnostics.report(
                    "the token would go to \(upstream.url) in clear text; add allow_clear_text: true if that is meant",
                    at: item.kindMark
                )
            }
        }
    }
}
