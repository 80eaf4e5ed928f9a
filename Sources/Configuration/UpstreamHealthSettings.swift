public import Time

/// How the addresses of an upstream are checked, whether calls go there or not.
public struct UpstreamHealthSettings: Equatable, Sendable {
    /// What a check asks for.
    public enum Request: Equatable, Sendable {
        /// `grpc.health.v1.Health/Check` of a service; an empty name is the whole server.
        case grpc(String)
        /// `GET` of a path.
        case http(String)
    }

    /// What a check asks for.
    public let request: Request
    /// The time from one check of an address to the next.
    public let interval: Duration
    /// How long a check may take, its connection included.
    public let timeout: Duration
    /// How many checks in a row bring an address back.
    public let up: Int
    /// How many failed checks in a row leave an address out.
    public let down: Int
    /// The interceptor whose token is sent with checks.
    public let token: MarkedString?

    static let options = [
        Option(
            "grpc",
            .string,
            oneOf: "request",
            example: "shop.v1.OrderService",
            """
            Asks `grpc.health.v1.Health/Check` for this service, and `""` for the whole server. A server that does \
            not know the service or has no health service counts as up.
            """
        ),
        Option(
            "path",
            .string,
            oneOf: "request",
            example: "/healthz",
            "Sends `GET` with this path. A status from 200 to 399 counts as up."
        ),
        Option("every", .timeout, default: "10s", "The time between two checks of one address, at least 100ms."),
        Option("timeout", .timeout, default: "1s", "The time limit of a check, with its connection."),
        Option(
            "up",
            .integer(in: 1...100),
            default: "1",
            "The number of successes in a row that bring an address back."
        ),
        Option(
            "down",
            .integer(in: 1...100),
            default: "3",
            "The number of failures in a row that leave an address out."
        ),
        Option(
            "token",
            .string,
            example: "orders-token",
            "The name of a `token` interceptor. Its token is sent as `authorization: Bearer`. Checks have none without it."
        ),
    ]

    /// Reads the section of an upstream and reports what is wrong with it; none if checks never come.
    init?(_ section: Section, _ url: UpstreamURL) {
        guard let interval = section.duration("every") else { return nil }
        self.interval = interval
        timeout = section.duration("timeout") ?? interval
        up = section.integer("up")
        down = section.integer("down")
        token = section.marked("token")
        if interval < .milliseconds(100) {
            section.report("\"every\" cannot be \(interval.text); write a duration of at least 100ms", at: "every")
        }
        if timeout > interval {
            section.report("\"timeout\" cannot be longer than \"every\"; write a shorter time", at: "timeout")
        }
        if let service = section.string(ifGiven: "grpc") {
            request = .grpc(service)
            if url.scheme == .http {
                let advice = "write an h2c:// or https:// URL, or \"path\""
                section.report("\"grpc\" needs HTTP/2, and \(url) is HTTP/1.1; \(advice)", at: "grpc")
            }
        } else if let path = section.string(ifGiven: "path") {
            request = .http(path)
            let isTarget = path.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "#") }
            if !path.hasPrefix("/") || !isTarget {
                section.report(
                    "\"path\" cannot be \(Diagnostic.quote(path)); write a path such as /healthz",
                    at: "path"
                )
            }
        } else {
            return nil
        }
    }
}
