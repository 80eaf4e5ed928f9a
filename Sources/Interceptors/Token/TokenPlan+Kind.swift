internal import Configuration
internal import Credentials
internal import Proxy

extension TokenPlan {
    static let kind = InterceptorKind(
        name: "token",
        summary:
            """
            Adds a token to a request header. The token comes from a file, a program, an OAuth 2.0 server or \
            another source. 
            """
                + """
                Martlet fetches it once for all calls and refreshes it before it expires. If the upstream rejects \
                the token, 
                """
                + "Martlet retries the call with a fresh one.",
        isPerAttempt: true,
        rewrites: true,
        options: sources + [
            Option("header", .string, default: "authorization", "The header for the token."),
            Option(
                "format",
                .string,
                default: "Bearer {token}",
                "The value of the header. `{token}` stands for the token."
            ),
            Option(
                "hosts",
                .strings,
                example: "[api.example]",
                "The hosts that may get the token, with an optional port. The default is every upstream."
            ),
            Option(
                "allow_clear_text",
                .bool,
                default: "false",
                "Allows the token to go to another machine without TLS."
            ),
            Option(
                "caller",
                .choice(["replace", "keep", "strip", "reject"]),
                default: "replace",
                "Handles a token that the caller sends. `strip` removes it even if there is no other token."
            ),
            Option(
                "phantom",
                .section(phantomOptions),
                """
                The phantom token that the caller must send. Martlet swaps it for the token, and rejects calls \
                without it.
                """
            ),
            Option(
                "refresh_ahead",
                .duration,
                default: "30s",
                "How long before its expiry Martlet refreshes the token, at most half of its lifetime."
            ),
            Option(
                "wait",
                .timeout,
                default: "2s",
                """
                How long a call waits for a missing token, within its deadline. It does not wait if the next fetch \
                starts later.
                """
            ),
            Option(
                "retry",
                .bool,
                default: "true",
                "Retries a call with a fresh token if the upstream rejects the token as unauthenticated."
            ),
            Option(
                "on_error",
                .node,
                shape: .either([.value(.choice(["continue"])), .value(.section(OnError.options))]),
                "If there is no token, `continue` sends the call without one, and `{ code: …, message: … }` rejects it."
            ),
        ],
        plan: { TokenPlan($0, $1) }
    )

    private static let sources = [
        Option(
            "file",
            .string,
            oneOf: "source",
            file: .read,
            example: "/run/secrets/token",
            "The file with the token. Martlet reads it again when it changes."
        ),
        NamedFile.credential(oneOf: "source"),
        Option(
            "env",
            .string,
            oneOf: "source",
            "The environment variable with the token. Martlet reads it when it loads the configuration."
        ),
        Option("value", .string, oneOf: "source", "The token itself. A file is safer."),
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
            "An OAuth 2.0 server, with client credentials (RFC 6749 §4.4)."
        ),
        Option(
            "exchange",
            .section(TokenTemplate.exchangeOptions),
            oneOf: "source",
            "An OAuth 2.0 server that exchanges another token (RFC 8693)."
        ),
        Option("jwt", .section(TokenTemplate.jwtOptions), oneOf: "source", "A JWT that Martlet signs (RFC 7519)."),
        Option(
            "call",
            .section(TokenTemplate.callOptions),
            oneOf: "source",
            "A call from `calls`, whose response contains the token."
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
            "The Kubernetes API server, with a TokenRequest."
        ),
    ]

    private static let phantomOptions = [
        Option(
            "header",
            .string,
            default: "authorization",
            "The header with the phantom token, with or without `Bearer`."
        ),
        Option(
            "value",
            .section(Secret.options),
            required: true,
            "The phantom token. Martlet reads a file when it loads the configuration."
        ),
    ]
}
