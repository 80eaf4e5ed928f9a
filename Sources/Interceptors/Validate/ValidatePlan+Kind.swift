internal import Configuration
internal import Proxy

extension ValidatePlan {
    static let kind = InterceptorKind(
        name: "validate",
        summary: """
            Checks responses, and errors that prevent one. The first rule that matches passes the response, \
            turns it into an error, changes it, or retries the request. Rules apply in their order: a message \
            waits if a rule on the code or the trailers comes before one on the message. If types say that the \
            response has one message, it also waits for a rule that retries the call. In a stream of several \
            messages none waits. What the caller has received stays. Rules on messages read JSON, and Protobuf of a \
            known type: a unary message, the first message of a stream, or a plain HTTP body.
            """,
        isPerAttempt: true,
        options: [
            Option("rules", .sections(ValidateRule.options), required: true, "The rules, in their order."),
            Option(
                "max_retries",
                .integer(in: 0...31),
                default: "0",
                "The limit of retries for one call. After that, the last response passes unchanged."
            ),
            Option(
                "hold",
                .duration,
                default: "1s",
                """
                How long Martlet holds the head and the first message of a response while a rule on its end comes \
                before a rule on them, or may retry the call. After that they pass, and the first of the other rules \
                applies.
                """
            ),
            Option(
                "retry",
                .section(RetryPlan.options),
                "The default retry options of all rules."
            ),
        ],
        plan: { ValidatePlan($0, $1) }
    )
}
