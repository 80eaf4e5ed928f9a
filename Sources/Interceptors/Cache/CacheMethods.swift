internal import Configuration
internal import Proxy
internal import Time

/// The RPCs whose responses are stored.
struct CacheMethods: Sendable {
    static let options = [
        Option(
            "methods",
            .strings,
            example: "[shop.v1.Catalog/*]",
            """
            The unary methods, as `service/method` or `service/*`. Methods that their types mark with \
            `NO_SIDE_EFFECTS` are always among them.
            """
        ),
        Option(
            "ttl",
            .duration,
            example: "30s",
            "How long a response is fresh that has no `cache-control`. By default Martlet does not store such responses."
        ),
    ]

    private let methods: [MethodPattern]
    /// How long a response is fresh that does not say so itself.
    let ttl: Duration?

    init(_ section: Section) {
        ttl = section.duration("ttl")
        methods = section.markedStrings("methods").compactMap { MethodPattern($0, into: section.diagnostics) }
    }

    /// Whether the responses of the method of a call are stored.
    func contains(_ call: Call) -> Bool { !call.isKnownToStream && (call.hasNoSideEffects || call.isOf(methods)) }
}
