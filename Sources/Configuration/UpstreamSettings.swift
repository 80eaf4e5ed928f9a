public import Time

/// One remote service that calls are forwarded to.
public struct UpstreamSettings: Equatable, Sendable {
    /// The bounds of one worker's pool.
    public struct Limits: Equatable, Sendable {
        /// The open connections.
        public let connections: Int
        /// The calls that wait for a connection.
        public let waiting: Int
        /// The calls that run at once on one HTTP/2 connection, if the upstream allows as many.
        public let streams: Int
        /// The bytes of a response's head, or of its trailers.
        public let head: Int
        /// The fields of a response's head, or of its trailers.
        public let fields: Int
        /// The bytes of one request's body that are kept, so that it can be retried.
        public let retryBuffer: Int
        /// Where more of it is kept; none is nowhere.
        public let spool: UpstreamSpoolSettings?
        /// The calls under way in the process; none is no limit.
        public let calls: Int?
        /// The addresses that a name has in DNS, and the targets of its SRV records.
        public let addresses: Int
    }

    /// What becomes of the cookies that an upstream sets.
    public enum Cookies: String, CaseIterable, Sendable {
        /// They go to the caller, and nothing is kept.
        case none
        /// They are kept and sent back, and the caller does not see them.
        case jar
        /// They are kept and sent back, and the caller gets them as well.
        case expose
    }

    /// How an upstream reads and writes messages.
    public enum WireCodec: String, CaseIterable, Sendable {
        case proto, json
    }

    /// How an upstream reads messages that are compressed.
    public enum WireCompression: String, CaseIterable, Sendable {
        case identity, gzip, br, zstd, deflate, snappy
    }

    /// What an upstream understands.
    public enum WireProtocol: String, CaseIterable, Sendable {
        /// Whatever its callers speak.
        case same
        case grpc
        case grpcWeb = "grpc_web"
        /// gRPC-Web in base64, beside binary.
        case grpcWebText = "grpc_web_text"
        case connect
        /// The paths that `google.api.http` gives to methods.
        case rest
    }

    /// The name that routes, metrics and logs use.
    public let name: String
    /// Where the upstream is.
    public let url: UpstreamURL
    /// How it is spoken to over TLS; none where the URL says clear text.
    public let tls: UpstreamTLSSettings?
    /// The time-outs of its attempts and connections.
    public let timeouts: Timeouts
    /// Its addresses, and how calls are spread over them.
    public let addresses: UpstreamAddressSettings
    /// The bounds of its pools.
    public let limits: Limits
    /// What requests get where they do not have it themselves.
    public let defaults: UpstreamDefaults
    /// What becomes of the cookies that it sets.
    public let cookies: Cookies
    /// How long a call waits for a connection where none can be made; none is not at all.
    public private(set) var connectWait: Duration?
    /// How much of its load may be calls that are retried.
    public let retryBudget: UpstreamRetryBudget
    /// What it understands, of which the first is used for callers that speak none of it.
    public let speaks: [WireProtocol]
    /// The codecs that it understands, of which the first is used for callers with another; any if there are none.
    public let codecs: [WireCodec]
    /// The compressions of messages that it understands beside none; nil is any.
    public let compressions: [WireCompression]?
    /// Whether requests keep the host that the caller named, instead of getting that of the URL.
    public let keepsHost: Bool
    /// Where the file names the upstream.
    @NotCompared public private(set) var mark: Mark

    /// The authority that requests get; none if the caller's stays.
    public var authority: String? { keepsHost ? nil : ownAuthority }

    /// The authority that the URL names; none for a Unix socket.
    public var ownAuthority: String? {
        guard case .tcp(let address) = url.endpoint else { return nil }
        guard address.port == url.scheme.defaultPort else { return "\(address)" }
        return address.host.contains(":") ? "[\(address.host)]" : address.host
    }

    /// Whether nobody on the way can read what goes there: it does not leave the machine, or is in TLS that is verified.
    public var isConfidential: Bool {
        isOnThisMachine || tls.map { !$0.isInsecure } ?? false
    }

    /// The same upstream for who would know at once that no connection can be made.
    public var withoutConnectWait: UpstreamSettings {
        var settings = self
        settings.connectWait = nil
        return settings
    }

    private var isOnThisMachine: Bool {
        switch addresses.source {
        case .first, .all: url.isLoopback
        case .list(let hosts): hosts.allSatisfy(\.isLoopback)
        // What they will say is not known.
        case .service, .file: false
        }
    }

    static let options =
        [
            Option("url", .string, required: true, example: "http://127.0.0.1:9000", "The URL of the upstream."),
            Option("tls", .section(UpstreamTLSSettings.options), "The TLS settings for an https:// upstream."),
            Option(
                "host",
                .choice(["upstream", "caller"]),
                default: "upstream",
                """
                The host that requests name: that of the URL, or the caller's. With a Unix socket it is always the \
                caller's.
                """
            ),
            Option(
                "speaks",
                .choices(WireProtocol.allCases.map(\.rawValue)),
                default: "same",
                """
                The protocols that the upstream understands. Martlet translates calls in other protocols to the first \
                one. `grpc_web` is binary: add `grpc_web_text` if the upstream understands text too. `rest` is a server \
                with the paths of `google.api.http`. `same` passes every call as it is.
                """
            ),
            Option(
                "codecs",
                .choices(WireCodec.allCases.map(\.rawValue)),
                """
                The codecs that the upstream understands. Martlet converts messages in another codec to the first one, \
                by their `types`. Without `codecs` messages pass as they are. Needs `speaks`.
                """
            ),
            Option(
                "compressions",
                .choices(WireCompression.allCases.map(\.rawValue)),
                """
                The compressions of messages that the upstream understands. Martlet decompresses request messages with \
                another one. `[]` means none. The default is any.
                """
            ),
            Option("timeouts", .section(Timeouts.options), "The time limits of calls and connections."),
            Option(
                "limits",
                .section(limitOptions),
                "The limits of one worker for this upstream, and `calls`, which is for all workers together."
            ),
            Option(
                "defaults",
                .section(UpstreamDefaults.options),
                "Headers and query parameters to add to requests that do not have them, after all interceptors."
            ),
            Option(
                "cookies",
                .choice(Cookies.allCases.map(\.rawValue)),
                default: "none",
                """
                Stores the cookies of the upstream and sends them back (RFC 6265). All callers share them. `jar` \
                hides them from callers, `expose` does not.
                """
            ),
            Option(
                "connect_wait",
                .timeout,
                default: "none",
                """
                How long a call waits if no connection can be made. Martlet keeps trying to connect. `none` means \
                that calls do not wait.
                """
            ),
            Option(
                "retry_budget",
                .section(UpstreamRetryBudget.options),
                "The limit of retries for one worker, over ten seconds."
            ),
        ] + UpstreamAddressSettings.options

    private static let limitOptions = [
        Option(
            "connections",
            .integer(in: 1...100_000),
            default: "1024",
            "The limit of connections for each worker and each HTTP version."
        ),
        Option(
            "waiting",
            .integer(in: 0...1_000_000),
            default: "1024",
            "The limit of calls that wait for a connection to one address. Martlet rejects calls beyond it."
        ),
        Option(
            "streams",
            .integer(in: 1...100_000),
            default: "100",
            "The limit of concurrent calls on one HTTP/2 connection. The upstream may set a lower one."
        ),
        Option(
            "head",
            .size(in: 1024...1 << 24),
            default: "64KiB",
            "The size limit of a response's head, and of its trailers. A larger one costs the call."
        ),
        Option(
            "fields",
            .integer(in: 1...10_000),
            default: "200",
            "The limit of fields in a response's head, and in its trailers. More of them cost the call."
        ),
        Option(
            "retry_buffer",
            .size(in: 0...1 << 30),
            default: "64KiB",
            """
            The size limit of a request body that Martlet keeps in memory for a retry. A larger body cannot be \
            retried, or needs `spool`.
            """
        ),
        Option(
            "spool",
            .section(UpstreamSpoolSettings.options, shorthand: "to"),
            "Where Martlet keeps what of a request body is beyond `retry_buffer`, so that it can be retried."
        ),
        Option(
            "calls",
            .integer(in: 1...1_000_000),
            example: "1024",
            "The limit of concurrent calls in all workers together. Martlet rejects calls beyond it."
        ),
        Option(
            "addresses",
            .integer(in: 1...10_000),
            default: "512",
            """
            The limit of addresses that a name has in DNS, and of targets of its SRV records. Martlet uses only so \
            many of them.
            """
        ),
    ]

    /// Reads an upstream; none if its name or URL is wrong, which is reported.
    init?(_ named: NamedSection) {
        let section = named.section
        name = named.name
        mark = named.mark
        let timeouts = section.section("timeouts")
        self.timeouts = Timeouts(
            connect: timeouts.duration("connect"),
            waiting: timeouts.duration("waiting"),
            firstByte: timeouts.duration("first_byte"),
            attempt: timeouts.duration("attempt"),
            call: timeouts.duration("call"),
            idle: timeouts.duration("idle"),
            keepalive: timeouts.duration("keepalive"),
            maxAge: timeouts.duration("max_age")
        )
        if let keepalive = self.timeouts.keepalive, keepalive < .seconds(10) {
            let problem = "\"keepalive\" cannot be \(keepalive.text)"
            timeouts.report("\(problem); write a duration of at least 10s, or none", at: "keepalive")
        }
        let limits = section.section("limits")
        self.limits = Limits(
            connections: limits.integer("connections"),
            waiting: limits.integer("waiting"),
            streams: limits.integer("streams"),
            head: limits.size("head"),
            fields: limits.integer("fields"),
            retryBuffer: limits.size("retry_buffer"),
            spool: limits.has("spool") ? UpstreamSpoolSettings(limits.section("spool")) : nil,
            calls: limits.integer(ifGiven: "calls"),
            addresses: limits.integer("addresses")
        )
        defaults = UpstreamDefaults(section.section("defaults"))
        cookies = Cookies(rawValue: section.string("cookies")) ?? .none
        connectWait = section.duration("connect_wait")
        retryBudget = UpstreamRetryBudget(section.section("retry_budget"))
        compressions =
            section.has("compressions") ? section.strings("compressions").compactMap(WireCompression.init) : nil
        keepsHost = section.string("host") == "caller"
        Name.check(named.name, at: named.mark, into: section.diagnostics)
        let tls = UpstreamTLSSettings(section.section("tls"))
        guard let text = section.string(ifGiven: "url") else { return nil }
        do {
            url = try UpstreamURL(text)
        } catch {
            section.report(error.message, at: "url")
            return nil
        }
        let need: SystemNeed.Kind =
            switch url.endpoint {
            case .tcp(let address): .connects(address.port)
            case .unix(let path): .connectsToSocket(path)
            }
        section.diagnostics.note(SystemNeed(need, at: section.mark(of: "url")))
        addresses = UpstreamAddressSettings(section, url)
        speaks = Self.readProtocols(section, url)
        codecs = Self.readCodecs(section, speaks)
        self.tls = url.scheme == .https ? tls : nil
        checkClearText(section)
    }
}
