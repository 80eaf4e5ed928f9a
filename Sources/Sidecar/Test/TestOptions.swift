internal import Configuration
internal import RPC

/// The keys of a file of tests.
enum TestOptions {
    /// The file.
    static let file = [
        Option("config", .string, example: "../martlet.yaml", "The configuration to test. `-c` replaces it."),
        Option("given", .section(given), "What stands for the world in all tests."),
        Option("tests", .sections(test), "The tests."),
    ]

    private static let given = [
        Option(
            "tokens",
            .node,
            shape: .named(.anything),
            """
            What the fetches of a token bring, by the name of its interceptor: `{ value: t1, lifetime: 1m }`, \
            `{ error: … }`, or a list of these, one for each fetch.
            """
        ),
        Option(
            "upstreams",
            .node,
            shape: .named(.value(.section(upstream))),
            "The mocks that stand for upstreams, by their names."
        ),
        Option(
            "calls",
            .node,
            shape: .named(.value(.section(response))),
            "The responses to the calls of `calls`, by their names."
        ),
        Option("time", .string, default: "2026-01-01T00:00:00Z", "The time of day at the start, in RFC 3339."),
        Option("seed", .integer(in: 1...Int(Int32.max)), default: "1", "The seed of all random numbers."),
    ]

    static let upstream = [
        Option("mock", .node, "The name of a mock of the configuration, or the options of a mock.")
    ]

    static let token = [
        Option("value", .string, default: "", "The token."),
        Option("lifetime", .duration, example: "1m", "The time until it expires."),
        Option("error", .string, example: "no route to host", "Why the fetch fails."),
    ]

    static let response = [
        Option("status", .integer(in: 200...599), default: "200", "The HTTP status."),
        Option("headers", .map, "The headers."),
        Option("body", .string, default: "", "The body."),
    ]

    private static let test =
        [
            Option("name", .string, required: true, example: "reads need a token", "The name of the test."),
            Option("given", .section(given), "What is given to this test alone, in place of the same for all tests."),
            Option("steps", .sections(step), "Several calls, one after the other, in place of `call` and `expect`."),
        ] + step

    private static let step = [
        Option("after", .duration, default: "0s", "The time that passes before the call."),
        Option("call", .section(call), "The call."),
        Option("expect", .section(expectation), "What is expected of it."),
    ]

    private static let call: [Option] = [
        Option("method", .string, example: "shop.v1.OrderService/Get", "The RPC method."),
        Option("http", .string, example: "GET /v1/orders", "The HTTP method and the path, for plain HTTP and REST."),
        Option(
            "protocol",
            .choice(["connect_unary", "connect_get", "connect_stream", "grpc", "grpc_web"]),
            default: "connect_unary",
            "The protocol of the caller."
        ),
        Option("codec", .choice(["json", "proto"]), default: "json", "The codec of the messages."),
        Option("host", .string, default: "localhost", "The host that the caller names."),
        Option(
            "listener",
            .string,
            example: "127.0.0.1:8080",
            "The address of the listener. The default is the first one."
        ),
        Option("headers", .map, "The headers."),
        Option("json", .node, "The message as JSON."),
        Option("text", .string, "The message, or the body in plain HTTP, as text."),
        Option("hex", .string, example: "0a 02", "The message in hexadecimal."),
        Option("base64", .string, example: "CgI=", "The message in base64."),
        Option("messages", .node, "A list of messages as JSON, for a stream."),
        Option("timeout", .duration, example: "2s", "The time that the caller allows."),
        Option("cancel_after", .duration, example: "1s", "The time after which the caller leaves."),
        Option(
            "peer",
            .section([
                Option("uid", .integer(in: 0...Int(UInt32.max) - 1), default: "0", "The user ID."),
                Option("gid", .integer(in: 0...Int(UInt32.max) - 1), default: "0", "The group ID."),
                Option("pid", .integer(in: 0...Int(Int32.max)), default: "1", "The process ID."),
                Option("unit", .string, example: "app.service", "The systemd unit."),
            ]),
            "The calling process, over a Unix socket."
        ),
    ]

    static let expectation: [Option] = [
        Option("route", .node, "The name of the route, or its number from 0."),
        Option("chain", .string, example: "internal", "The name of the chain; `interceptors` is the default one."),
        Option("upstream", .string, example: "orders", "The upstream that was called, or `none`."),
        Option("decided_by", .string, example: "interceptor:auth", "Who decided, as in the access log."),
        Option("code", .choice(ConditionSettings.codeNames), "The status code."),
        Option("message", .node, "A condition on the message of the error."),
        Option(
            "details",
            .sections(detail),
            "Typed details of the error. Each must be there, in any order."
        ),
        Option("status", .integer(in: 100...999), "The HTTP status."),
        Option("attempts", .integer(in: 0...1000), "The number of attempts."),
        Option("waits", .strings, example: "[3s]", "The times between attempts."),
        Option("time", .node, "A condition on the time of the call: a duration, or `{ above: … }` and `{ below: … }`."),
        Option("request", .section(request), "The request of the last attempt, as the upstream got it."),
        Option("response", .section(response(of: "response")), "The response, as the caller got it."),
        Option(
            "redacted",
            .strings,
            example: "[x-password, /password]",
            "Headers by their names, and places in messages as JSON Pointers, that logs and recordings never show."
        ),
        Option("log", .node, shape: .named(.anything), "Conditions on fields of the access log, by JSON Pointers."),
        Option("metrics", .node, shape: .named(.anything), "By how much metrics changed: `'name{label=\"a\"}': 1`."),
    ]

    private static let detail = [
        Option("type", .string, required: true, example: "google.rpc.RetryInfo", "The full name of the message type."),
        Option("json", .node, shape: .named(.anything), "Conditions on the message, by JSON Pointers."),
    ]

    private static let request =
        [
            Option("method", .string, example: "POST", "The HTTP method."),
            Option("path", .node, "A condition on the path with the query."),
            Option("headers", .node, shape: .named(.anything), "Conditions on headers, by their names."),
        ] + messages

    private static func response(of name: String) -> [Option] {
        [
            Option("headers", .node, shape: .named(.anything), "Conditions on headers, by their names."),
            Option("trailers", .node, shape: .named(.anything), "Conditions on trailers, by their names."),
            Option("body", .node, "A condition on the first message, or the body in plain HTTP, as text."),
        ] + messages
    }

    private static let messages = [
        Option("json", .node, shape: .named(.anything), "Conditions on the first message, by JSON Pointers."),
        Option("messages", .node, "For each message, in order, its conditions by JSON Pointers."),
    ]
}
