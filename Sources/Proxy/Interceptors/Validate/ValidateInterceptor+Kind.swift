internal import Configuration

extension ValidateInterceptor {
    static let kind = InterceptorKind(
        name: "validate",
        summary: """
            Looks at responses, and at failures to get one: the first rule that is for one says whether it passes, becomes an \
            error, is changed, or the request is retried. Rules about messages are asked when one has come, those about \
            trailers and codes when the response ends; what has gone out to the caller by then stays. Messages are looked at \
            where they are JSON: the one of a unary response, the first of a stream, and the body of plain HTTP.
            """,
        isPerAttempt: true,
        options: [
            Option("rules", .sections(ValidateRule.options), required: true, "The rules, asked in their order."),
            Option(
                "max_retries",
                .integer(in: 0...31),
                default: "0",
                "How often a call is retried at most; after that the last response passes as it is."
            ),
            Option(
                "retry",
                .section(RetryPlan.options),
                "What all rules that retry share, where they do not say else."
            ),
        ],
        make: { ValidateInterceptor($0, $1) }
    )
}
