internal import Configuration

extension AdminRoute {
    /// All pages, in the order in which `GET /` lists them.
    static let all = [
        AdminRoute(.get, "/", page: nil, "Shows the dashboard in a browser, and this list elsewhere.") {
            $0.index($1, $2)
        },
        AdminRoute(dashboard: .style),
        AdminRoute(dashboard: .script),
        AdminRoute(dashboard: .callScript),
        AdminRoute(dashboard: .metricsScript),
        AdminRoute(.get, "/healthz", "/live", page: .healthz, "Says ok, or 503 and the worker that is stuck.") {
            $0.healthz($2)
        },
        AdminRoute(.get, "/readyz", "/ready", page: .readyz, "Says ready, or 503 and the reason.") { $0.readyz($2) },
        AdminRoute(
            .get,
            "/metrics",
            page: .metrics,
            "Shows the metrics in Prometheus's text format, or in OpenMetrics."
        ) {
            $0.metrics($1, $2)
        },
        AdminRoute(.get, "/status", page: .status, "Shows what martlet status prints.") { $0.status($2) },
        AdminRoute(.get, "/config", page: .config, "Shows the configuration in use, as JSON.") { $0.config($2) },
        AdminRoute(
            .get,
            "/calls/recent",
            page: .calls,
            parameters: ["follow"],
            "Shows the calls that ended last, with their traces; ?follow=true streams them.",
            { $0.recentCalls($1, $2) }
        ),
        AdminRoute(
            .get,
            "/calls/active",
            page: .calls,
            "Shows the calls under way, the oldest first, and how much of their bodies has passed."
        ) { $0.activeCalls($2) },
        AdminRoute(
            .get,
            "/calls/{name}/curl",
            page: .tap,
            parameters: ["view", "with"],
            "Shows a line for the shell that repeats a call; ?view=upstream, ?with=grpcurl or buf.",
            { $0.repeatedCall($1, $2) }
        ),
        AdminRoute(
            .get,
            "/tap",
            page: .tap,
            parameters: TapQuery.parameters,
            "Streams calls as they happen; ?service=, ?method=, ?path=, ?code=, ?peer=, ?messages=true.",
            { $0.tap($1, $2) }
        ),
        AdminRoute(.get, "/upstreams", page: .status, "Shows the addresses of upstreams and their states, as JSON.") {
            $0.upstreams($2)
        },
        AdminRoute(.get, "/credentials", page: .credentials, "Shows the state of every token, as JSON.") {
            $0.credentials($2)
        },
        AdminRoute(.get, "/mocks", page: .mocks, "Shows the mocks and how often their rules applied, as JSON.") {
            $0.mocks($2)
        },
        AdminRoute(.get, "/mocks/{name}/calls", page: .mocks, "Shows the last calls of a mock, as JSON.") {
            $0.mockCalls($1, $2)
        },
        AdminRoute(.delete, "/mocks/{name}/calls", page: .mocks, "Removes the calls of a mock.") {
            $0.deleteMockCalls($1, $2)
        },
        AdminRoute(
            .post,
            "/mocks/reset",
            page: .mocks,
            parameters: ["mock"],
            "Removes the counts, states and calls of ?mock=NAME, or of all mocks."
        ) {
            $0.resetMocks($1, $2)
        },
        AdminRoute(
            .post,
            "/mocks/signal",
            page: .mocks,
            parameters: ["name"],
            "Raises the signal ?name=NAME for the mocks that wait for it."
        ) {
            $0.signalMocks($1, $2)
        },
        AdminRoute(
            .post,
            "/cache/purge",
            page: .cache,
            parameters: ["path", "cache"],
            "Removes the responses to requests whose path starts with ?path=, of ?cache=NAME or of all caches."
        ) {
            $0.purgeCaches($1, $2)
        },
        AdminRoute(
            .post,
            "/reload",
            page: .reload,
            "Loads the file: 200 and the new generation, or 422 and the errors."
        ) {
            $0.reload($2)
        },
        AdminRoute(
            .post,
            "/upgrade",
            page: .upgrade,
            parameters: ["timeout"],
            "Starts the program anew, which takes over: 200 and its PID; or 422, and all is as before."
        ) {
            $0.upgrade($1, $2)
        },
        AdminRoute(.post, "/drain", "/quitquitquit", page: .drain, "Responds 202 and does what SIGTERM does.") {
            $0.drain($2)
        },
    ]
}
