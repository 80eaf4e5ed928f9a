public import Time

/// When a call is sent to another address as well, since the first has not responded yet (gRFC A6).
public struct UpstreamHedgeSettings: Equatable, Sendable {
    /// How long a response is waited for before the next address is asked.
    public let pause: Duration
    /// How many further addresses a call is sent to at most.
    public let max: Int
    /// The methods whose calls may be sent twice.
    public let methods: [MethodPattern]

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
        methods = section.markedStrings("methods").compactMap { MethodPattern($0, into: section.diagnostics) }
    }
}
