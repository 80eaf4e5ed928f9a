extension Settings {
    /// The keys at the top of the file.
    public static let options = [
        Option("listen", .strings, example: "127.0.0.1:8080", "An address, or a list of them: short for listeners."),
        Option(
            "listeners",
            .sections(ListenerSettings.options, shorthand: "address"),
            "The sockets on which callers connect."
        ),
        Option("upstream", .string, example: "http://127.0.0.1:9000", "A URL: short for an upstream named default."),
        Option("upstreams", .named(UpstreamSettings.options, shorthand: "url"), "The remote services by name."),
        Option("calls", .named(CallSettings.options), "The requests that Martlet makes by itself, by name."),
        Option("interceptors", .node, shape: .chain, "The default chain."),
        Option("chains", .node, shape: .named(.chain), "Further chains by name, for routes to use."),
        Option(
            "routes",
            .sections(RouteSettings.options),
            "Where calls go; the first route that matches takes the call."
        ),
        Option("workers", .integerOrAuto(in: 1...64), default: "auto", "The number of threads that carry calls."),
        Option(
            "admin",
            .sections(AdminSettings.options, shorthand: "address"),
            shape: .either([
                .value(.section(AdminSettings.options, shorthand: "address")),
                .value(.sections(AdminSettings.options, shorthand: "address")),
            ]),
            "The socket of the admin pages, or a list of them."
        ),
        Option("limits", .section(ProcessLimits.options), "What the process as a whole may take."),
        Option("drain", .section(DrainSettings.options), "How long a stop takes."),
        Option(
            "log_level",
            .choice(LogLevel.allCases.map(\.rawValue)),
            default: "info",
            "How much is written to the operational log."
        ),
        Option(
            "core_dumps",
            .bool,
            default: "false",
            "Whether a crash dumps core. The core has stacks and registers in it, but no heap and no environment."
        ),
    ]
}
