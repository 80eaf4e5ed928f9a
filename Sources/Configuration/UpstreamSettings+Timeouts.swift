public import Time

extension UpstreamSettings {
    /// The time-outs of an attempt and of a connection; none is no limit.
    public struct Timeouts: Equatable, Sendable {
        /// The DNS lookup and the making of the connection.
        public let connect: Duration?
        /// The time for which a call waits for a connection, in addition to `connect`.
        public let waiting: Duration?
        /// From the last byte sent to the first byte of the response.
        public let firstByte: Duration?
        /// From the start of an attempt to the head of its response; where calls wait for connectivity, from its connection on.
        public let attempt: Duration?
        /// The whole of a call, the caller's own deadline notwithstanding.
        public let call: Duration?
        /// The time for which a connection without a call is kept.
        public let idle: Duration?
        /// The interval between pings of an HTTP/2 connection with calls; `nil` sends none.
        public let keepalive: Duration?
        /// The age at which a connection gets no new calls; `nil` is no limit.
        public let maxAge: Duration?

        static let options = [
            Option("connect", .timeout, default: "2s", "The time limit of the DNS lookup and the connection."),
            Option(
                "waiting",
                .timeout,
                default: "10s",
                "How long a call waits if all connections are in use, in addition to `connect`. The call then fails."
            ),
            Option("first_byte", .timeout, default: "none", "The time limit of the first byte of a response."),
            Option(
                "attempt",
                .timeout,
                default: "none",
                """
                The time limit from the start of an attempt to the head of its response. With `connect_wait` it \
                starts at the connection.
                """
            ),
            Option("call", .timeout, default: "none", "The time limit of a whole call."),
            Option("idle", .timeout, default: "60s", "How long Martlet keeps a connection without a call."),
            Option(
                "keepalive",
                .timeout,
                default: "6m",
                """
                How often Martlet pings an HTTP/2 connection with calls, at least 10s. gRPC servers may close a \
                connection pinged more often than every 5m.
                """
            ),
            Option(
                "max_age",
                .timeout,
                default: "30m",
                """
                The age at which a connection gets no new calls, at random up to 10 % earlier. It closes after its \
                last call.
                """
            ),
        ]
    }
}
