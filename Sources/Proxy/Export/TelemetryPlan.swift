internal import Bytes
internal import Configuration
internal import HTTP
internal import Telemetry
internal import Time

/// Where spans and metrics go, with all that was read for it.
package struct TelemetryPlan: Sendable {
    /// How spans go.
    struct Spans: Sendable {
        let receiver: OTLPReceiver
        /// How long a span waits at most for others.
        let interval: Duration
        /// How many may wait.
        let queue: Int
    }

    /// How metrics go.
    struct Metrics: Sendable {
        let receiver: OTLPReceiver
        /// The time from one export to the next.
        let interval: Duration
    }

    let spans: Spans?
    let metrics: Metrics?

    /// Makes what the settings say; none if they name no receiver.
    ///
    /// - Parameters:
    ///   - settings: the settings.
    ///   - acquired: the servers that have been made for the configuration.
    ///   - version: the version of Martlet.
    ///   - diagnostics: where problems go.
    init?(_ settings: TelemetrySettings, _ acquired: Acquired, version: String, into diagnostics: Diagnostics) {
        guard let otlp = settings.otlp else { return nil }
        let headers = otlp.headers.map { header in
            let name = HeaderName.checked(header.name, at: header.nameMark, into: diagnostics)
            let value = Self.constant(header.text, at: header.mark, into: diagnostics)
            return FetchRequest.Field(String(decoding: name.bytes, as: UTF8.self), value)
        }
        let attributes = settings.resource.map { one in
            SpanRecord.Attribute(one.name, .text(Self.constant(one.text, at: one.mark, into: diagnostics)))
        }
        let fixedAttributes = settings.fixedResource.map { SpanRecord.Attribute($0.name, $0.text) }
        let resource = TelemetryResource(
            [SpanRecord.Attribute("service.name", settings.service)] + attributes + fixedAttributes,
            version: version
        )
        func receiver(_ signal: TelemetrySettings.OTLP.Signal) -> OTLPReceiver {
            let fixed = signal.fixedHeaders.map { FetchRequest.Field($0.name.lowercased(), Array($0.text.utf8)) }
            return OTLPReceiver(
                server: acquired.server(signal.target.server, into: diagnostics),
                target: Array(signal.target.target.utf8),
                headers: headers + fixed.filter { Self.isGood($0) },
                isJSON: otlp.isJSON,
                compresses: otlp.compresses,
                timeout: otlp.timeout,
                resource: resource
            )
        }
        spans = otlp.spans.map { Spans(receiver: receiver($0), interval: otlp.interval, queue: otlp.queue) }
        metrics = otlp.metrics.map { Metrics(receiver: receiver($0), interval: otlp.metricsInterval) }
    }

    /// Whether a header of the environment can be sent; others are left out, as there is nobody to tell.
    private static func isGood(_ field: FetchRequest.Field) -> Bool {
        let diagnostics = Diagnostics()
        _ = HeaderName.checked(field.name, at: .start, into: diagnostics)
        return diagnostics.isEmpty && field.value.span.firstControl == nil
    }

    /// The value of a text that may name environment variables.
    private static func constant(_ text: String, at mark: Mark, into diagnostics: Diagnostics) -> [UInt8] {
        let template = Template(text, at: mark, into: diagnostics)
        if template.constant == nil, diagnostics.isEmpty {
            let problem = "\(Diagnostic.quote(text)) depends on a call; write a fixed value, or {env:NAME}"
            diagnostics.report(problem, at: mark)
        }
        return template.constant ?? []
    }
}
