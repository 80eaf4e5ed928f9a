extension Settings {
    /// The keys at the top of the file.
    public static let options = [
        Option(
            "listen",
            .strings,
            example: "127.0.0.1:8080",
            "An address, or a list of addresses. Short for `listeners`."
        ),
        Option(
            "listeners",
            .sections(ListenerSettings.options, shorthand: "address"),
            "The sockets that accept callers."
        ),
        Option(
            "upstream",
            .string,
            example: "http://127.0.0.1:9000",
            "A URL. Short for an upstream with the name `default`."
        ),
        Option("upstreams", .named(UpstreamSettings.options, shorthand: "url"), "The upstreams by name."),
        Option("calls", .named(CallSettings.options), "The requests that Martlet sends on its own, by name."),
        Option(
            "mocks",
            .node,
            shape: .named(.value(.section(MockSettings.options))),
            "Services to serve in place of an upstream, by name. The interceptor `mock` uses them."
        ),
        Option(
            "caches",
            .named(CacheSettings.options),
            "Where responses are stored, by name. The interceptor `cache` uses them."
        ),
        Option("interceptors", .node, shape: .chain, "The default chain."),
        Option("chains", .node, shape: .named(.chain), "More chains by name, for `routes` and `include`."),
        Option(
            "routes",
            .sections(RouteSettings.options),
            "The upstream and the chain of each call. The first route that matches applies."
        ),
        Option(
            "workers",
            .integerOrAuto(in: 1...64),
            default: "auto",
            "The number of threads that process calls. `auto` is one for each CPU that the process may use."
        ),
        Option(
            "admin",
            .sections(AdminSettings.options, shorthand: "address"),
            shape: .either([
                .value(.section(AdminSettings.options, shorthand: "address")),
                .value(.sections(AdminSettings.options, shorthand: "address")),
            ]),
            "The socket of the admin pages, or a list of sockets."
        ),
        Option("types", .section(TypesSettings.options), "What Martlet knows of the types of Protobuf messages."),
        Option(
            "telemetry",
            .section(TelemetrySettings.options),
            "The tracing system that gets the spans of the interceptor `trace`."
        ),
        Option(
            "sandbox",
            .section(SandboxSettings.options, shorthand: "mode"),
            "What Martlet cannot do after startup: `on`, `off`, or a mapping."
        ),
        Option("limits", .section(ProcessLimits.options), "The limits of the whole process."),
        Option("drain", .section(DrainSettings.options), "The time limits of a graceful stop."),
        Option(
            "log_level",
            .choice(LogLevel.allCases.map(\.rawValue)),
            default: "info",
            "The lowest level that Martlet writes to the operational log."
        ),
        Option(
            "core_dumps",
            .bool,
            default: "false",
            "Allows core dumps after a crash. A core contains stacks and registers, but no heap and no environment."
        ),
    ]
}
