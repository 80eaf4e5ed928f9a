internal import Configuration

extension TokenInterceptor {
    static let kind = InterceptorKind(
        name: "token",
        summary:
            "Puts a token into a request header: one that a file, a program, an OAuth 2.0 server or another place gives. "
            + "It is fetched once for all calls and anew before it ends; a call whose token the upstream rejects is retried "
            + "with a fresh one.",
        isPerAttempt: true,
        rewrites: true,
        options: sources + [
            Option("header", .string, default: "authorization", "The header that carries the token."),
            Option("format", .string, default: "Bearer {token}", "The header's value; {token} stands for the token."),
            Option(
                "hosts",
                .strings,
                example: "[api.example]",
                "The only hosts it may go to, with or without a port; any upstream if absent."
            ),
            Option(
                "allow_clear_text",
                .bool,
                default: "false",
                "Whether the token may go to another host without TLS."
            ),
            Option(
                "caller",
                .choice(["replace", "keep", "strip", "reject"]),
                default: "replace",
                "What becomes of the header where the caller sends it itself: it is replaced, kept instead of ours, taken out even if there is no token, or the call is rejected."
            ),
            Option(
                "phantom",
                .section(phantomOptions),
                "What the caller has to show, to have it swapped for the token; a call without it is rejected."
            ),
            Option(
                "refresh_ahead",
                .duration,
                default: "30s",
                "How long before its end a token is fetched anew; at most half of its time."
            ),
            Option(
                "wait",
                .timeout,
                default: "2s",
                "How long a call waits for a token while there is none, within its deadline; not at all, if the next fetch is not due within that time."
            ),
            Option(
                "retry",
                .bool,
                default: "true",
                "Whether a call whose token is rejected as unauthenticated is retried with a fresh one."
            ),
            Option(
                "on_error",
                .node,
                shape: .either([.value(.choice(["continue"])), .value(.section(OnError.options))]),
                "What a call gets while there is no token: continue sends it without one; {code: …, message: …} rejects it."
            ),
        ],
        make: { TokenInterceptor($0, $1) }
    )

    private static let sources = [
        Option(
            "file",
            .string,
            oneOf: "source",
            example: "/run/secrets/token",
            "The file that holds the token; read again when it changes."
        ),
        Option("env", .string, oneOf: "source", "The environment variable that holds the token, read at load."),
        Option("value", .string, oneOf: "source", "The token itself; a file is safer."),
        Option(
            "exec",
            .section(TokenTemplate.execOptions, shorthand: nil),
            oneOf: "source",
            "A program that writes the token."
        ),
        Option(
            "oauth2",
            .section(TokenTemplate.oauth2Options),
            oneOf: "source",
            "An OAuth 2.0 server that gives tokens for client credentials (RFC 6749 §4.4)."
        ),
        Option(
            "exchange",
            .section(TokenTemplate.exchangeOptions),
            oneOf: "source",
            "An OAuth 2.0 server that gives a token for another one (RFC 8693)."
        ),
        Option("jwt", .section(TokenTemplate.jwtOptions), oneOf: "source", "A JWT that is signed here (RFC 7519)."),
        Option(
            "call",
            .section(TokenTemplate.callOptions),
            oneOf: "source",
            "One of the named calls, whose response has the token."
        ),
        Option(
            "gcp",
            .section(TokenTemplate.gcpOptions),
            oneOf: "source",
            "The metadata server of Google Cloud."
        ),
        Option(
            "kubernetes",
            .section(TokenTemplate.kubernetesOptions),
            oneOf: "source",
            "The API server of Kubernetes, by a TokenRequest."
        ),
    ]

    private static let phantomOptions = [
        Option(
            "header",
            .string,
            default: "authorization",
            "The header in which the caller shows it, behind Bearer or alone."
        ),
        Option("value", .section(Secret.options), required: true, "What it is; a file is read at load."),
    ]
}
