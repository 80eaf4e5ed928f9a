public import Time

/// When a call is sent to another address as well, since the first has not responded yet (gRFC A6).
public struct UpstreamHedgeSettings: Equatable, Sendable {
    /// How long a response is waited for before the next address is asked.
    public let pause: Duration
    /// How many further addresses a call is sent to at most.
    public let max: Int
    /// The methods whose calls may be sent twice, as `service/method`; `service/*` is all of a service.
    public let methods: [MarkedString]

    static let options = [
        Option(
            "after",
            .timeout,
            required: true,
            example: "200ms",
            "The time without the head of a response after which Martlet sends the call to another address."
        ),
        Option("max", .integer(in: 1...4), default: "1", "The number of further addresses for one call."),
        Option(
            "methods",
            .strings,
            example: "shop.v1.Catalog/Get",
            """
            The methods that can be sent twice, as `service/method` or `service/*`. Methods that their types mark \
            with `NO_SIDE_EFFECTS`, Connect calls with GET, and plain HTTP calls with GET or HEAD always can.
            """
        ),
    ]

    /// Reads the section of an upstream and reports what is wrong with it; none if no time is given.
    init?(_ section: Section) {
        guard let pause = section.duration("after") else { return nil }
        self.pause = pause
        max = section.integer("max")
        methods = section.markedStrings("methods")
        for method in methods {
            let parts = method.text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count != 2 || parts.contains("") else { continue }
            let advice = "write a service and a method without a slash before them, such as shop.v1.Catalog/Get"
            section.diagnostics.report(
                "a method cannot be \(Diagnostic.quote(method.text)); \(advice)",
                at: method.mark
            )
        }
    }
}
