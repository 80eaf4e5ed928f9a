internal import Time

/// What the variables of OpenTelemetry say of the receiver.
struct OTLPEnvironment {
    /// What one signal goes by: spans or metrics.
    struct Signal {
        /// The whole URL.
        let url: String
        /// The headers of requests.
        let headers: [NamedString]
    }

    /// Where spans go, if a variable says so.
    let spans: Signal?
    /// Where metrics go, if variables say so.
    let metrics: Signal?
    /// The time between exports of metrics; none if variables do not ask for any.
    let metricsInterval: Duration?
    /// The protocol, such as `http/protobuf`.
    let protocolName: String
    /// What the settings are said to stand at, since variables have no place.
    let mark: Mark

    /// The specification's default of `OTEL_METRIC_EXPORT_INTERVAL`.
    static let defaultInterval = 60 * Duration.second

    /// Reads the variables.
    init(_ variable: (String) -> String?, at mark: Mark) {
        func signal(_ name: String, _ path: String) -> Signal? {
            let headers = variable("OTEL_EXPORTER_OTLP_\(name)_HEADERS") ?? variable("OTEL_EXPORTER_OTLP_HEADERS")
            let base = variable("OTEL_EXPORTER_OTLP_ENDPOINT").map { $0.hasSuffix("/") ? $0 + path : "\($0)/\(path)" }
            return (variable("OTEL_EXPORTER_OTLP_\(name)_ENDPOINT") ?? base).map {
                Signal(url: $0, headers: TelemetrySettings.pairs(headers, at: mark))
            }
        }
        let isDisabled = variable("OTEL_SDK_DISABLED") == "true"
        let asksForMetrics = (variable("OTEL_METRICS_EXPORTER") ?? "").split(separator: ",").contains("otlp")
        self.mark = mark
        protocolName = variable("OTEL_EXPORTER_OTLP_PROTOCOL") ?? "http/protobuf"
        spans = isDisabled ? nil : signal("TRACES", "v1/traces")
        guard asksForMetrics, !isDisabled else {
            (metrics, metricsInterval) = (nil, nil)
            return
        }
        metrics = signal("METRICS", "v1/metrics")
        // A number of milliseconds; what is none counts as not set.
        let milliseconds = variable("OTEL_METRIC_EXPORT_INTERVAL").flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
        metricsInterval = milliseconds.map { min($0, 1 << 31) * Duration.millisecond } ?? Self.defaultInterval
    }
}

extension TelemetrySettings.OTLP {
    /// The receiver that the environment names; none if it names none.
    init?(_ environment: OTLPEnvironment, into diagnostics: Diagnostics) {
        guard let any = environment.spans ?? environment.metrics else { return nil }
        let (name, mark) = (environment.protocolName, environment.mark)
        guard name.hasPrefix("http/") else {
            diagnostics.warn(
                "OTEL_EXPORTER_OTLP_PROTOCOL is \(name), and Martlet sends http/protobuf or http/json; nothing is sent",
                at: mark
            )
            return nil
        }
        func section(_ url: String) -> Section {
            let entries = [
                ("url", Node.plain(url, at: mark)),
                ("encoding", .plain(name == "http/json" ? "json" : "protobuf", at: mark)),
                ("allow_clear_text", .plain("true", at: mark)),
            ]
            let node = Node(.mapping(entries.map { Node.Entry(key: $0, keyMark: mark, value: $1) }), at: mark)
            return Section(node, TelemetrySettings.otlpOptions, into: diagnostics)
        }
        func signal(_ signal: OTLPEnvironment.Signal?) -> Signal? {
            guard let signal, let target = FetchTarget(section(signal.url), "url") else { return nil }
            return Signal(target: target, fixedHeaders: signal.headers)
        }
        self.init(
            section(any.url),
            spans: signal(environment.spans),
            metrics: signal(environment.metrics),
            every: environment.metricsInterval
        )
    }

    /// The receiver that a section names, with what the environment says where that says nothing.
    init?(_ section: Section, _ environment: OTLPEnvironment) {
        guard let text = section.string(ifGiven: "url") else { return nil }
        let hasPath = text.split(separator: "://", maxSplits: 1).last?.contains { $0 == "/" || $0 == "?" } ?? false
        guard let target = FetchTarget(section, "url", url: hasPath ? text : text + "/v1/traces") else { return nil }
        let isGiven = section.has("metrics")
        let interval = isGiven ? section.duration("metrics") : environment.metricsInterval
        let metrics = interval == nil ? nil : target.besideTraces
        if interval != nil, metrics == nil {
            let problem = "the path of \"url\" does not end in /traces, so there is no path for metrics beside it"
            let text = "\(problem); write for example http://127.0.0.1:4318"
            isGiven ? section.report(text, at: "metrics") : section.diagnostics.warn(text, at: section.mark(of: "url"))
        }
        self.init(
            section,
            spans: Signal(target: target, fixedHeaders: []),
            metrics: metrics.map { Signal(target: $0, fixedHeaders: []) },
            every: interval
        )
    }

    private init(_ section: Section, spans: Signal?, metrics: Signal?, every interval: Duration?) {
        (self.spans, self.metrics) = (spans, metrics)
        isJSON = section.string("encoding") == "json"
        compresses = section.string("compression") == "gzip"
        headers = section.map("headers")
        self.interval = section.duration("every") ?? .seconds(5)
        metricsInterval = interval ?? OTLPEnvironment.defaultInterval
        timeout = section.duration("timeout")
        queue = section.integer("queue")
    }
}

extension FetchTarget {
    /// Where metrics go if spans go here: the path ends in `/metrics` instead of `/traces`; none if it ends otherwise.
    fileprivate var besideTraces: FetchTarget? {
        let end = target.firstIndex(of: "?") ?? target.endIndex
        let path = target[..<end]
        guard path.hasSuffix("/traces") else { return nil }
        return with(target: "\(path.dropLast("traces".count))metrics\(target[end...])")
    }
}
