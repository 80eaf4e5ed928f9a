import Time

/// A stream of a connection, as a server that counts resets sees it.
struct ClosedStream {
    let sentAt: Instant
    let closed: Instant
    let isReset: Bool
    let hasResponse: Bool

    var isPremature: Bool { isReset && !hasResponse && closed - sentAt < .seconds(2) }
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
        ResetLimit(description: "h2") {
            // The times at which its application accepts streams that have been reset.
            var pending: [Instant] = []
            return { stream in
                guard stream.isReset, !stream.hasResponse else { return false }
                pending.append(stream.sentAt + .milliseconds(250))
                pending.removeAll { $0 <= stream.closed }
                return pending.count > 20
            }
        },
        ResetLimit(description: "Envoy") {
            var (closed, early) = (0, 0)
            return { stream in
                closed += 1
                early += stream.isPremature ? 1 : 0
                return 2 * early >= max(500, closed)
            }
        },
    ]

    private static func resets(_ name: String, above count: Int, in window: Duration) -> ResetLimit {
        ResetLimit(description: name) {
            var times: [Instant] = []
            return { stream in
                guard stream.isReset else { return false }
                times.append(stream.closed)
                while let first = times.first, stream.closed - first >= window { times.removeFirst() }
                return times.count > count
            }
        }
    }
}
