public import Time

/// Where the spans of calls go, and what is said of the process there.
public struct TelemetrySettings: Equatable, Sendable {
    /// A receiver of OTLP over HTTP.
    public struct OTLP: Equatable, Sendable {
        /// Where spans or metrics go.
        public struct Signal: Equatable, Sendable {
            /// Where the receiver is.
            public let target: FetchTarget
            /// The headers that the environment has for it, whose values are meant as they are.
            public let fixedHeaders: [NamedString]
        }

        /// Where spans go; none if they go nowhere.
        public let spans: Signal?
        /// Where metrics go; none if they go nowhere.
        public let metrics: Signal?
        /// Whether JSON is sent instead of Protobuf.
        public let isJSON: Bool
        /// Whether bodies are compressed with gzip.
        public let compresses: Bool
        /// The headers of requests, whose values may name environment variables.
        public let headers: [NamedString]
        /// How long a span waits at most for others.
        public let interval: Duration
        /// The time from one export of the metrics to the next.
        public let metricsInterval: Duration
        /// How long a response is waited for.
        public let timeout: Duration?
        /// How many spans may wait.
        public let queue: Int
    }

    /// The name of the service, `service.name`.
    public let service: String
    /// What else is said of the process.
    public let resource: [NamedString]
    /// What the environment says, whose values are meant as they are.
    public let fixedResource: [NamedString]
    /// The receiver; none if there is none.
    public let otlp: OTLP?
    /// The share of calls that are traced where the file does not say, if variables do.
    public let sample: Double?

    static let options = [
        Option(
            "service",
            .string,
            example: "shop",
            "The name of the service. The default is `OTEL_SERVICE_NAME`, or `martlet`."
        ),
        Option(
            "resource",
            .map,
            example: "{ deployment.environment.name: \"{env:ENV}\" }",
            "More attributes of the process. The default is `OTEL_RESOURCE_ATTRIBUTES`."
        ),
        Option(
            "otlp",
            .section(otlpOptions, shorthand: "url"),
            "The receiver of spans and metrics. The default is `OTEL_EXPORTER_OTLP_ENDPOINT`, if that is set."
        ),
    ]

    static let otlpOptions =
        [
            Option(
                "url",
                .string,
                required: true,
                example: "http://127.0.0.1:4318",
                "The URL of the receiver of spans. Without a path it is `/v1/traces`."
            ),
            Option(
                "encoding",
                .choice(["protobuf", "json"]),
                default: "protobuf",
                "The form of requests, as OTLP over HTTP has it."
            ),
            Option("compression", .choice(["gzip", "none"]), default: "gzip", "The compression of requests."),
            Option("headers", .map, "Headers of requests. `{env:NAME}` is an environment variable."),
            Option("every", .timeout, default: "5s", "How long a span waits for others. 512 go at once."),
            Option(
                "metrics",
                .timeout,
                default: "none",
                example: "60s",
                """
                How often the metrics go to the receiver, to `/v1/metrics` beside the URL of spans. The default is \
                `OTEL_METRIC_EXPORT_INTERVAL` if `OTEL_METRICS_EXPORTER` is `otlp`.
                """
            ),
            Option(
                "queue",
                .integer(in: 1...1_000_000),
                default: "2048",
                "The limit of spans that wait. Martlet drops the oldest beyond it."
            ),
        ] + FetchTarget.options

    /// Reads the section and reports what is wrong with it.
    ///
    /// - Parameters:
    ///   - section: the section.
    ///   - variable: the value of an environment variable.
    init(_ section: Section, variable: (String) -> String?) {
        service = section.string(ifGiven: "service") ?? variable("OTEL_SERVICE_NAME") ?? "martlet"
        resource = section.map("resource")
        fixedResource =
            section.has("resource") ? [] : Self.pairs(variable("OTEL_RESOURCE_ATTRIBUTES"), at: section.mark)
        sample = Self.sample(variable)
        let environment = OTLPEnvironment(variable, at: section.mark)
        otlp =
            section.has("otlp")
            ? OTLP(section.section("otlp"), environment) : OTLP(environment, into: section.diagnostics)
    }

    /// `key=value` pairs with commas between, as variables of OpenTelemetry have them.
    static func pairs(_ text: String?, at mark: Mark) -> [NamedString] {
        (text ?? "").split(separator: ",").compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { return nil }
            let name = parts[0].filter { $0 != " " }
            return NamedString(name: String(name), nameMark: mark, text: decoded(parts[1]), mark: mark)
        }
    }

    /// The text, in which `%20` is a space.
    private static func decoded(_ text: Substring) -> String {
        var (bytes, rest) = ([UInt8](), Array(text.utf8)[...])
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard byte == UInt8(ascii: "%"), digits.utf8.count == 2, let code = UInt8(digits, radix: 16) else {
                bytes.append(byte)
                continue
            }
            bytes.append(code)
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A number from 0 to 1; what is none counts as not given.
    private static func share(_ text: String?) -> Double? {
        text.flatMap(Double.init).flatMap { 0...1 ~= $0 ? $0 : nil }
    }

    /// What `OTEL_TRACES_SAMPLER` says of calls without a trace; those with one follow their callers.
    private static func sample(_ variable: (String) -> String?) -> Double? {
        switch variable("OTEL_TRACES_SAMPLER") {
        case "always_on", "parentbased_always_on": 1
        case "always_off", "parentbased_always_off": 0
        case "traceidratio", "parentbased_traceidratio": share(variable("OTEL_TRACES_SAMPLER_ARG")) ?? 1
        default: nil
        }
    }
}
