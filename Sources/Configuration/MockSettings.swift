/// What serves calls in place of a server, as the file describes it; an interceptor of the kind `mock` names it.
public struct MockSettings: Equatable, Sendable {
    /// The name.
    public let name: String
    /// Its options, to be read by the table below.
    public let node: Node
    /// Where the name stands.
    @NotCompared public private(set) var mark: Mark

    init(_ entry: Node.Entry, into diagnostics: Diagnostics) {
        (name, node, mark) = (entry.key, entry.value, entry.keyMark)
        Name.check(name, at: mark, into: diagnostics)
    }

    /// The mocks of the file; what is no mapping of names is reported.
    static func all(_ section: Section) -> [MockSettings] {
        guard let node = section.node("mocks") else { return [] }
        guard let entries = node.entries else {
            section.report("\"mocks\" cannot be \(node.summary); write a mapping of names to mocks", at: "mocks")
            return []
        }
        return entries.map { MockSettings($0, into: section.diagnostics) }
    }

    /// The options of a mock.
    public static let options = [
        Option(
            "service",
            .string,
            example: "shop.v1.OrderService",
            "The RPC service. Other calls go on past the mock. The default is all services."
        ),
        Option(
            "methods",
            .node,
            shape: .named(.value(.sections(ruleOptions))),
            "The rules of each method, by its name. The first rule that matches applies."
        ),
        Option("rules", .sections(ruleOptions), "The rules of all other calls, also of plain HTTP."),
        Option(
            "unmatched",
            .choice(["empty", "unimplemented", "next"]),
            default: "empty",
            """
            The response to a call without a matching rule: an empty message, the error `unimplemented`, or that of \
            the upstream. Plain HTTP gets `unimplemented` instead of an empty message.
            """
        ),
    ]

    /// The options of a rule.
    public static let ruleOptions: [Option] = [
        Option("when", .section(conditionOptions), "The calls that the rule applies to. The default is all."),
        Option(
            "times",
            .integer(in: 1...1_000_000_000),
            example: "1",
            "How often the rule applies. After that the next rule can match. The default is always."
        ),
        Option("respond", .section(responseOptions), "The response, once the request is complete."),
        Option(
            "outputs",
            .sections(stepOptions),
            "The steps of a response with several messages. `emit` says when they start."
        ),
        Option(
            "emit",
            .choice(["on_open", "after_first_input", "per_input", "after_close"]),
            default: "after_first_input",
            "When `outputs` are sent: at once, after the first message, after each message, or after the request."
        ),
        Option(
            "script",
            .sections(stepOptions),
            "The steps of a response that waits for messages, in order."
        ),
    ]

    /// What a rule asks of calls.
    public static let conditionOptions =
        ConditionSettings.options.filter { $0.key != "code" } + [
            Option("json", .node, shape: .named(.anything), jsonDocumentation)
        ]

    private static let jsonDocumentation = """
        Conditions on values at JSON Pointers in the first message: a value, `present`, `absent`, or one of \
        `{ not: … }`, `{ any: […] }`, `{ regex: … }`, `{ contains: … }`, `{ length: … }`, `{ above: … }` and \
        `{ below: … }`.
        """

    /// What a message is made of.
    public static let messageOptions = [
        Option("json", .node, "The message: a YAML value. Strings are templates."),
        Option("text", .string, example: "hello {json:/name}", "The message as text, which is a template."),
        Option("hex", .string, example: "0a 02 68 69", "The message in hexadecimal."),
        Option("base64", .string, example: "CgJoaQ==", "The message in base64."),
        Option("file", .string, example: "/etc/martlet/order.bin", "The file with the message."),
        Option("echo", .bool, default: "false", "Sends the message of the request."),
    ]

    /// What ends a response.
    public static let endOptions = [
        Option("code", .choice(ConditionSettings.codeNames), default: "ok", "The status code."),
        Option("message", .string, default: "", "The message of the error, which is a template."),
        Option("details", .sections(detailOptions), "The typed details of the error."),
        Option("trailers", .map, "Trailers. The values are templates."),
    ]

    private static let detailOptions = [
        Option("type", .string, required: true, example: "google.rpc.RetryInfo", "The full name of the message type."),
        Option("json", .node, "The message as JSON. Needs its type in `types`."),
        Option("base64", .string, default: "", "The serialized message in base64."),
    ]

    /// What a response is made of.
    public static let responseOptions =
        messageOptions + endOptions + [
            Option("headers", .map, "Headers. The values are templates."),
            Option("delay", .duration, default: "0s", "How long the response waits."),
            Option("status", .integer(in: 200...599), default: "200", "The HTTP status of a plain HTTP response."),
            Option("body", .string, default: "", "The body of a plain HTTP response, which is a template."),
            Option(
                "fail",
                .choice(["reset", "connect", "timeout", "dns"]),
                "Fails like an upstream that closes the connection, accepts none, does not respond, or has no address."
            ),
        ]

    /// The steps of a script.
    public static let stepOptions = [
        Option(
            "headers",
            .map,
            oneOf: "step",
            "Sends the head of the response. Without this step it goes with the first message."
        ),
        Option("send", .section(messageOptions), oneOf: "step", "Sends a message."),
        Option("wait", .duration, oneOf: "step", example: "50ms", "Waits."),
        Option(
            "expect",
            .section([Option("json", .node, shape: .named(.anything), jsonDocumentation)]),
            oneOf: "step",
            "Waits for the next message. One that does not fit ends the call with `failed_precondition`."
        ),
        Option("each", .node, oneOf: "step", "Steps for each further message, until the request is complete."),
        Option("closed", .bool, oneOf: "step", "Waits until the request is complete."),
        Option("end", .section(endOptions), oneOf: "step", "Ends the response. The last step does so by itself."),
        Option("reset", .bool, oneOf: "step", "Breaks the response off, as an upstream that goes away."),
    ]
}
