internal import Configuration
internal import Proxy

extension ValidatePlan {
    static let kind = InterceptorKind(
        name: "validate",
        summary: """
            Checks responses, and errors that prevent one. The first rule that matches passes the response, \
            turns it into an error, changes it, or retries the request. Rules on messages apply when a message \
            arrives, and rules on trailers and codes when the response ends. What the caller has received by \
            then stays. Rules on messages read JSON, and Protobuf of a known type: a unary message, the first \
            message of a stream, or a plain HTTP body.
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
                "retry",
                .section(RetryPlan.options),
                "The default retry options of all rules."
            ),
        ],
        plan: { ValidatePlan($0, $1) }
    )
}
