internal import Bytes
internal import Configuration
internal import HTTP
internal import Protocols
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

    private let methods: [(service: [UInt8], method: [UInt8])]
    /// How long a response is fresh that does not say so itself.
    let ttl: Duration?

    init(_ section: Section) {
        ttl = section.duration("ttl")
        methods = section.markedStrings("methods").compactMap { method in
            let parts = method.text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, !parts.contains("") else {
                let advice = "write a service and a method, such as shop.v1.Catalog/Get"
                let problem = "a method cannot be \(Diagnostic.quote(method.text))"
                section.diagnostics.report("\(problem); \(advice)", at: method.mark)
                return nil
            }
            return (Array(parts[0].utf8), Array(parts[1].utf8))
        }
    }

    /// Whether the responses of the method of a call are stored.
    func contains(_ call: Call) -> Bool {
        guard let procedure = call.rpcProcedure else { return false }
        guard !call.isKnownToStream else { return false }
        if call.hasNoSideEffects { return true }
        let request = call.request
        let path = request.path
        return methods.contains { listed in
            path.extracting(procedure.service).equals(listed.service)
                && (listed.method == [UInt8(ascii: "*")] || path.extracting(procedure.method).equals(listed.method))
        }
    }
}
