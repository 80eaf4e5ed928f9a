import Time

/// A stream of a connection, as a server that counts resets sees it.
struct ClosedStream {
    let begun: Instant
    let closed: Instant
    let isReset: Bool
    let hasResponse: Bool

    var isEarly: Bool { isReset && !hasResponse && closed - begun < .seconds(2) }
}

/// The default at which a server ends a connection for its resets.
struct ResetLimit: Sendable, CustomStringConvertible {
    let description: String
    /// Returns the count of a new connection: whether the server ends the connection when a stream closes.
    let begin: @Sendable () -> (ClosedStream) -> Bool

    /// The servers with a limit of their own.
    static let all = [
        resets("Netty", above: 200, in: .seconds(30)),
        resets("Jetty", above: 128, in: .second),
        resets("nghttp2", above: 1000, in: .seconds(30)),
        // Its application accepts a stream within a quarter of a second.
        resets("h2", above: 20, in: .milliseconds(250), areEarly: true),
        ResetLimit(description: "Envoy") {
            var (closed, early) = (0, 0)
            return { stream in
                closed += 1
                early += stream.isEarly ? 1 : 0
                return 2 * early >= max(500, closed)
            }
        },
    ]

    private static func resets(
        _ name: String,
        above count: Int,
        in window: Duration,
        areEarly: Bool = false
    ) -> ResetLimit {
        ResetLimit(description: name) {
            var times: [Instant] = []
            return { stream in
                guard areEarly ? stream.isEarly : stream.isReset else { return false }
                times.append(stream.closed)
                while let first = times.first, stream.closed - first >= window { times.removeFirst() }
                return times.count > count
            }
        }
    }
}
