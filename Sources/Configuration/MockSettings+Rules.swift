extension MockSettings {
    /// The options of a rule.
    public static let ruleOptions: [Option] = [
        Option("when", .section(conditionOptions), "The calls that the rule applies to. The default is all."),
        Option(
            "times",
            .integer(in: 1...1_000_000_000),
            example: "1",
            "How often the rule applies. After that the next rule can match. The default is always."
        ),
        Option(
            "state",
            .section(stateOptions),
            "The state that the rule requires and leaves. Each key has a state of its own."
        ),
        Option("signal", .string, example: "paid", "The signal to raise for steps `until` when the rule applies."),
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
        Option(
            "delay",
            .section(delayOptions, shorthand: "from"),
            example: "100ms",
            "The delay of `outputs` or `script`: before the first step, and before each message."
        ),
    ]

    private static let stateOptions = [
        Option(
            "of",
            .string,
            default: "",
            "The key, which is a template. By default all calls of the mock share one state."
        ),
        Option("is", .string, example: "paid", "The state that the rule requires. It is `start` at first."),
        Option("becomes", .string, example: "shipped", "The state after the rule has applied."),
    ]

    /// What a rule asks of calls.
    public static let conditionOptions =
        ConditionSettings.options.filter { $0.key != "code" } + [
            Option("json", .node, shape: .named(.anything), jsonDocumentation),
            Option(
                "messages",
                .node,
                """
                For each message of the request, in order, its conditions at JSON Pointers. They can have \
                `held_messages` together.
                """
            ),
            Option("body", .node, "A condition on the first message, or on the body of plain HTTP, as text."),
            Option("url", .node, "A condition on the path with the query, as text."),
            Option(
                "template",
                .string,
                example: "/v1/orders/{id}",
                """
                A path with names for some of its segments. `{path:id}` is the value of one in a template. The operators \
                of RFC 6570, as in `{+path}` and `{?page}`, are errors.
                """
            ),
            Option(
                "query",
                .node,
                shape: .named(.anything),
                "Conditions on the parameters of the query, by their names, as text."
            ),
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
        Option(
            "base64",
            .string,
            example: "CgJoaQ==",
            "The message in base64. Beside `json` it is that of callers in Protobuf, as tapes have it."
        ),
        Option("file", .string, file: .read, example: "/etc/martlet/order.bin", "The file with the message."),
        Option("echo", .bool, default: "false", "Sends the message of the request."),
        Option("fake", .bool, default: "false", "Sends a message with invented values. Needs `types`."),
    ]

    private static let fieldsShape = Option.Shape.named(.value(.strings))

    /// What ends a response.
    public static let endOptions = [
        Option("code", .choice(ConditionSettings.codeNames), default: "ok", "The status code."),
        Option("message", .string, default: "", "The message of the error, which is a template."),
        Option("details", .sections(detailOptions), "The typed details of the error."),
        Option("trailers", .node, shape: fieldsShape, "Trailers, by name a value or a list of values: templates."),
    ]

    private static let detailOptions = [
        Option("type", .string, required: true, example: "google.rpc.RetryInfo", "The full name of the message type."),
        Option("json", .node, "The message as JSON. Needs its type in `types`, unless that is one of `google.rpc`."),
        Option("base64", .string, default: "", "The serialized message in base64."),
    ]

    /// What a response is made of.
    public static let responseOptions =
        messageOptions + endOptions + [
            Option("headers", .node, shape: fieldsShape, "Headers, by name a value or a list of values: templates."),
            Option(
                "interim",
                .sections(interimOptions, shorthand: "status"),
                "Interim responses, which are sent first, as soon as the rule is known."
            ),
            Option(
                "delay",
                .section(delayOptions, shorthand: "from"),
                example: "100ms",
                "The delay of the response: a time, or a random one of a range."
            ),
            Option(
                "speed",
                .size(in: 1...1 << 30),
                example: "56KiB",
                "The speed of the whole response, in bytes per second."
            ),
            Option("status", .integer(in: 200...599), default: "200", "The HTTP status of a plain HTTP response."),
            Option(
                "body",
                .string,
                default: "",
                "The body of a plain HTTP response, which is a template. The default is the message, if there is one."
            ),
            Option("redirect", .section(redirectOptions), "The place that plain HTTP is sent to."),
            Option(
                "raw",
                .section(rawOptions),
                """
                The response byte by byte, in the protocol of the caller, for tests of clients. It is not translated, \
                and need not be valid.
                """
            ),
            Option(
                "fail",
                .choice(["reset", "connect", "timeout", "dns"]),
                "Fails like an upstream that closes the connection, accepts none, does not respond, or has no address."
            ),
        ]

    private static let pauseOptions = [
        Option("from", .duration, default: "0s", "The time, or the shortest one."),
        Option("to", .duration, example: "200ms", "The longest time. The default is `from`."),
    ]

    private static let delayOptions =
        pauseOptions + [
            Option(
                "each",
                .section(pauseOptions, shorthand: "from"),
                example: "50ms",
                "The delay of each message: a time, or a random one of a range."
            )
        ]

    /// An interim response.
    private static let interimOptions = [
        Option("status", .integer(in: 100...199), default: "103", "The HTTP status: 100, 102 or 103, but not 101."),
        Option("headers", .node, shape: fieldsShape, "Headers, by name a value or a list of values: templates."),
    ]

    private static let redirectOptions = [
        Option("to", .string, required: true, example: "https://api.example.com/v2", "The URL, which is a template."),
        Option("status", .integer(in: 300...399), default: "302", "The HTTP status."),
    ]

    private static let bytesOptions = [
        Option("text", .string, "The bytes as text."),
        Option("hex", .string, example: "0a 02 68 69", "The bytes in hexadecimal."),
        Option("base64", .string, example: "CgJoaQ==", "The bytes in base64."),
    ]

    private static let rawOptions =
        [
            Option(
                "status",
                .integer(in: 200...999),
                default: "200",
                "The HTTP status, which may be one that HTTP does not define."
            ),
            Option("headers", .node, shape: .named(.value(.strings)), "Headers, by name a value or a list of values."),
        ] + bytesOptions + [
            Option("items", .sections(itemOptions), "Messages behind these bytes, each in an envelope."),
            Option(
                "trailers",
                .node,
                shape: .named(.value(.strings)),
                "Trailers, by name a value or a list of values."
            ),
        ]

    private static let itemOptions =
        [
            Option("flags", .integer(in: 0...255), default: "0", "The flags of the envelope."),
            Option(
                "length",
                .integer(in: 0...Int(UInt32.max)),
                example: "5",
                "The length that the envelope has. The default is that of the bytes."
            ),
        ] + bytesOptions

    private static let headStatus = Option(
        "status",
        .integer(in: 200...599),
        default: "200",
        "The HTTP status beside `headers`, for plain HTTP."
    )

    private static let interimStep = Option(
        "interim",
        .section(interimOptions, shorthand: "status"),
        oneOf: "step",
        "Sends an interim response, before the head of the response."
    )

    /// The steps of a script.
    public static let stepOptions = [
        Option(
            "at",
            .duration,
            example: "20ms",
            "The time since the start of the call before which the step is not taken."
        ),
        Option(
            "headers",
            .node,
            shape: fieldsShape,
            oneOf: "step",
            "Sends the head of the response. Without this step it goes with the first message."
        ),
        headStatus,
        interimStep,
        Option(
            "send",
            .section(messageOptions + unrecordedOptions),
            oneOf: "step",
            "Sends a message, or a part of the body of plain HTTP."
        ),
        Option(
            "wait",
            .section(pauseOptions, shorthand: "from"),
            oneOf: "step",
            example: "50ms",
            "Waits for a time, or for a random one of a range."
        ),
        Option(
            "until",
            .string,
            oneOf: "step",
            example: "paid",
            "Waits for a signal, which `POST /mocks/signal` of the admin socket, a rule or a step raises."
        ),
        Option(
            "signal",
            .string,
            oneOf: "step",
            example: "paid",
            "Raises a signal for the steps `until` of all mocks."
        ),
        Option(
            "expect",
            .section(
                [
                    Option("json", .node, shape: .named(.anything), jsonDocumentation),
                    Option("text", .string, "The message as text."),
                    Option("base64", .string, "The message in base64. It is not looked at beside `json`."),
                ] + unrecordedOptions
            ),
            oneOf: "step",
            "Waits for the next message. One that does not fit ends the call with `failed_precondition`."
        ),
        Option("each", .node, oneOf: "step", "Steps for each further message, until the request is complete."),
        Option("closed", .bool, oneOf: "step", "Waits until the request is complete."),
        Option("end", .section(endOptions), oneOf: "step", "Ends the response. The last step does so by itself."),
        Option("reset", .bool, oneOf: "step", "Breaks the response off, as an upstream that goes away."),
        Option(
            "respond",
            .section(recordedResponse),
            oneOf: "step",
            "Sends a whole response of plain HTTP, as it is on a tape. Its body is no template."
        ),
        Option("by", .string, "Who ended the call when it was recorded. It has no effect."),
    ]

    /// The keys that a tape has in place of a message that it left out.
    private static let unrecordedOptions = [
        Option("cut", .integer(in: 0...Int.max), "The length of a message that was too long for a tape."),
        Option("withheld", .integer(in: 0...Int.max), "The length of a message that a tape may not show."),
    ]

    /// The keys of a call on a tape.
    public static let tapeOptions = [
        Option("call", .string, required: true, example: "shop.v1.OrderService/Get", "The call."),
        Option("protocol", .string, "The protocol of the caller."),
        Option("codec", .string, "The codec of the messages."),
        Option("started", .string, "When the call began."),
        Option("took", .duration, "The time until its end."),
        Option("request", .section([Option("headers", .map, "The headers of the request.")]), "The request."),
        Option("script", .sections(recordedOptions), "The messages of both sides."),
        Option("canceled", .bool, "Whether the caller left."),
        Option("by", .string, "Who ended the call, if not the upstream."),
        Option("incomplete", .string, "What lacks of the recording."),
    ]

    /// What has been recorded at one time.
    private static let recordedOptions = [
        Option("at", .duration, "The time since the start of the call."),
        Option("expect", .section(recordedMessage(.node)), oneOf: "step", "A message of the request."),
        Option("closed", .bool, oneOf: "step", "The end of the request."),
        Option("headers", .node, shape: fieldsShape, oneOf: "step", "The head of the response."),
        headStatus,
        interimStep,
        Option("send", .section(recordedMessage(.node)), oneOf: "step", "A message of the response."),
        Option("respond", .section(recordedResponse), oneOf: "step", "A response of plain HTTP."),
        Option("end", .section(endOptions), oneOf: "step", "The end of the response."),
        Option("reset", .bool, oneOf: "step", "The response broke off."),
        Option("by", .string, "Who ended the call, if not the upstream."),
    ]

    private static func recordedMessage(_ kind: Option.Kind) -> [Option] {
        [
            Option("json", kind, "The message as JSON."),
            Option("text", .string, "The message as text."),
            Option("base64", .string, "The message in base64."),
        ] + unrecordedOptions
    }

    private static let recordedResponse = [
        Option("status", .integer(in: 200...999), "The HTTP status."),
        Option("headers", .node, shape: fieldsShape, "The headers."),
        Option("body", .string, "The body as text."),
        Option("body_base64", .string, "The body in base64."),
    ]
}
