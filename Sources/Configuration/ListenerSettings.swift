public import Time

/// One socket on which callers connect.
public struct ListenerSettings: Equatable, Sendable {
    /// The time-outs of a caller's connection; none is no limit.
    public struct Timeouts: Equatable, Sendable {
        /// From the first byte of a head to its end, and from the connection's start to the end of a TLS handshake.
        public let head: Duration?
        /// The longest pause in a request body that the caller owes.
        public let body: Duration?
        /// How long a connection without a call is kept.
        public let idle: Duration?
        /// The time for which a caller may take none of the bytes that wait for it.
        public let stalled: Duration?
        /// How long an interceptor may suspend one event of a call.
        public let suspension: Duration?
    }

    /// The bounds of a caller's connection.
    public struct Limits: Equatable, Sendable {
        /// The bytes of one head.
        public let head: Int
        /// The header fields of one head.
        public let fields: Int
        /// The bytes of one message of a request, as they come; none is no limit.
        public let requestMessage: Int?
        /// The bytes of one message of a response, as they come; none is no limit.
        public let responseMessage: Int?
        /// The bytes of one message that an interceptor sees, decompressed.
        public let heldMessage: Int
        /// The events that wait for an interceptor in one direction of a call before no more is read.
        public let heldEvents: Int
        /// Their bytes.
        public let heldBytes: Int
        /// The bytes in the heads of all calls on one HTTP/2 connection from which on another is rejected.
        public let heads: Int
        /// The calls that run at once on one HTTP/2 connection.
        public let streams: Int
        /// The streams that the caller of one HTTP/2 connection may reset in a burst; a 30th of it in each second after.
        public let resets: Int
        /// The connections of this listener, for each worker.
        public let connections: Int

        /// How many those are where the file does not say.
        public static let defaultConnections = 10_000
    }

    /// Where the listener accepts connections.
    public let address: ListenAddress
    /// Who may connect to a Unix socket.
    public let permissions: SocketPermissions
    /// Whether an address that other machines reach is meant.
    public let allowRemote: Bool
    /// Whether callers are told by `proxy-status` why they get an error that was decided here.
    public let sendsProxyStatus: Bool
    /// Which hosts may be named, and the web pages of which origins may call.
    public let guards: CallerGuardSettings
    /// How callers are spoken to over TLS; none is clear text.
    public let tls: ListenerTLSSettings?
    /// The time-outs of its connections.
    public let timeouts: Timeouts
    /// The bounds of its connections.
    public let limits: Limits
    /// Where the file describes the listener.
    @NotCompared public private(set) var mark: Mark

    static let options: [Option] =
        [
            Option("address", .string, required: true, example: "127.0.0.1:8080", "The address for callers."),
            SocketPermissions.modeOption(default: 0o660),
        ]
        + SocketPermissions.ownerOptions(
            " In the runtime directory of the service the default is `_martlet-callers`, if the service is a member."
        ) + [
            Option("allow_remote", .bool, default: "false", "Allows an address that other machines can reach."),
            Option(
                "proxy_status",
                .choice(["auto", "on", "off"]),
                default: "auto",
                """
                Adds a proxy-status header (RFC 9209) to errors of Martlet. `auto` does so only for callers on this \
                machine.
                """
            ),
        ] + CallerGuardSettings.options + [
            Option("tls", .section(ListenerTLSSettings.options), "The TLS settings for callers."),
            Option("timeouts", .section(timeoutOptions), "The time limits of a connection."),
            Option("limits", .section(limitOptions), "The limits of a connection."),
        ]

    private static let timeoutOptions = [
        Option(
            "head",
            .timeout,
            default: "10s",
            "The time limit of a request head and of a TLS handshake. Martlet then closes the connection."
        ),
        Option(
            "body",
            .timeout,
            default: "60s",
            """
            The longest pause in a request body of a known length, of a unary call or of plain HTTP. The call then \
            fails. Streams of messages have no such limit.
            """
        ),
        Option("idle", .timeout, default: "1h", "How long Martlet keeps a connection without a call."),
        Option(
            "stalled",
            .timeout,
            default: "60s",
            """
            If the caller reads nothing for this long, Martlet resets the HTTP/2 stream, or closes the connection.
            """
        ),
        Option(
            "suspension",
            .timeout,
            default: "30s",
            "How long an interceptor may suspend one event of a call. The call then fails."
        ),
    ]

    private static let limitOptions = [
        Option(
            "head",
            .size(in: 1024...1 << 24),
            default: "64KiB",
            "The size limit of a request head, and of request trailers."
        ),
        Option(
            "fields",
            .integer(in: 1...10_000),
            default: "200",
            "The limit of header fields in a request head, and in trailers."
        ),
        Option(
            "request_message",
            .sizeLimit(in: 1...1 << 32),
            default: "none",
            "The size limit of one RPC message in a request."
        ),
        Option(
            "response_message",
            .sizeLimit(in: 1...1 << 32),
            default: "none",
            "The size limit of one RPC message in a response."
        ),
        Option(
            "held_message",
            .size(in: 1...1 << 31),
            default: "4MiB",
            """
            The size limit of one decompressed RPC message that an interceptor reads, or that Martlet converts or \
            translates. Other messages pass as they come.
            """
        ),
        Option(
            "held_events",
            .integer(in: 1...100_000),
            default: "64",
            """
            The limit of held events in one direction of a call. Martlet then stops reading until the \
            interceptor resumes.
            """
        ),
        Option(
            "held_bytes",
            .size(in: 1...1 << 31),
            default: "256KiB",
            """
            The size limit of held events in one direction of a call. Martlet then stops reading until the \
            interceptor resumes.
            """
        ),
        Option(
            "heads",
            .size(in: 1...1 << 31),
            default: "4MiB",
            "The size limit of all request heads of one HTTP/2 connection. Martlet rejects calls beyond it."
        ),
        Option(
            "streams",
            .integer(in: 1...100_000),
            default: "1000",
            "The limit of concurrent calls on one HTTP/2 connection."
        ),
        Option(
            "resets",
            .integer(in: 1...1_000_000),
            default: "1000",
            """
            The burst of streams that a caller may reset on one HTTP/2 connection. One 30th of it is added per \
            second.
            """
        ),
        Option(
            "connections",
            .integer(in: 1...1_000_000),
            default: "\(Limits.defaultConnections)",
            "The limit of connections to the listener, for each worker."
        ),
    ]

    /// Reads a listener; none if its address is missing or wrong, which is reported.
    init?(_ section: Section) {
        let text = section.string(ifGiven: "address")
        let address = text.flatMap(ListenAddress.init)
        permissions = SocketPermissions(section, for: address, keys: ["mode", "owner", "group"])
        allowRemote = section.bool("allow_remote")
        guards = CallerGuardSettings(section)
        tls = section.has("tls") ? ListenerTLSSettings(section.section("tls")) : nil
        let sendsStatus = section.string("proxy_status")
        sendsProxyStatus = sendsStatus == "on" || sendsStatus != "off" && address?.isLocal == true
        let timeouts = section.section("timeouts")
        self.timeouts = Timeouts(
            head: timeouts.duration("head"),
            body: timeouts.duration("body"),
            idle: timeouts.duration("idle"),
            stalled: timeouts.duration("stalled"),
            suspension: timeouts.duration("suspension")
        )
        let limits = section.section("limits")
        self.limits = Limits(
            head: limits.size("head"),
            fields: limits.integer("fields"),
            requestMessage: limits.sizeLimit("request_message"),
            responseMessage: limits.sizeLimit("response_message"),
            heldMessage: limits.size("held_message"),
            heldEvents: limits.integer("held_events"),
            heldBytes: limits.size("held_bytes"),
            heads: limits.size("heads"),
            streams: limits.integer("streams"),
            resets: limits.integer("resets"),
            connections: limits.integer("connections")
        )
        mark = section.mark(of: "address")
        guard let address else {
            guard let text else { return nil }
            section.report("\(Diagnostic.quote(text)) is not a valid address; \(ListenAddress.expected)", at: "address")
            return nil
        }
        self.address = address
        if !address.isLocal, !allowRemote {
            let problem = "other machines can reach \(address)"
            section.report("\(problem); listen on 127.0.0.1, or add allow_remote: true", at: "address")
        }
    }
}
