public import Bytes
internal import Time

/// Renders metrics in the text format of Prometheus, version 0.0.4, or in that of OpenMetrics, version 1.0.0.
public struct PrometheusText {
    /// The formats that a reader may ask for.
    public enum Format: Sendable {
        /// The format that every reader knows.
        case prometheus
        /// The format with units and exemplars.
        case openMetrics

        /// The media type of the text.
        public var contentType: StaticString {
            switch self {
            case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
            case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
            }
        }
    }

    private let queue: ByteQueue
    private let format: Format

    /// Makes a renderer that appends to `queue`.
    public init(to queue: ByteQueue, _ format: Format = .prometheus) {
        self.queue = queue
        self.format = format
    }

    /// Appends all families that have samples, in the order given.
    public func append(_ families: [MetricFamily]) {
        for family in families where !family.samples.isEmpty { append(family) }
    }

    /// Appends what stands behind the last family.
    public func finish() {
        if format == .openMetrics { append("# EOF\n") }
    }

    private func append(_ family: MetricFamily) {
        let metric = family.metric
        let isOpen = format == .openMetrics
        let name = isOpen ? String(metric.openMetricsName) : metric.name
        append("# HELP ", name, " ", Self.escaped(metric.help, quotes: isOpen), "\n")
        append("# TYPE ", name, " ", metric.kind.rawValue, "\n")
        if isOpen, let unit = metric.unit { append("# UNIT ", name, " ", unit.rawValue, "\n") }
        for sample in family.samples { append(sample, of: metric) }
    }

    private func append(_ sample: MetricSample, of metric: Metric) {
        let labels = Self.text(ofLabels: metric.labels, sample.labels)
        switch sample.value {
        case .number(let number):
            append(metric.name, Self.inBraces(labels), " ")
            appendEnd(decimal: number)
        case .nanoseconds(let nanoseconds):
            append(metric.name, Self.inBraces(labels), " ")
            appendEnd(seconds: nanoseconds)
        case .histogram(let histogram):
            append(histogram, metric.name, labels)
        case .summary(let count, let nanoseconds):
            append(metric.name, "_sum", Self.inBraces(labels), " ")
            appendEnd(seconds: nanoseconds)
            append(metric.name, "_count", Self.inBraces(labels), " ")
            appendEnd(decimal: count)
        }
    }

    /// A bucket counts all values up to its bound, so it contains the ones before it.
    private func append(_ histogram: DurationHistogram, _ name: String, _ labels: String) {
        var count = 0
        for index in histogram.buckets.indices {
            count += histogram.buckets[index]
            append(name, "_bucket{", labels, labels.isEmpty ? "le=\"" : ",le=\"")
            append(bound: index, of: histogram.bounds)
            append("\"} ")
            queue.append(decimal: count)
            if format == .openMetrics, let exemplar = histogram.exemplars[index] { append(exemplar) }
            append("\n")
        }
        append(name, "_sum", Self.inBraces(labels), " ")
        appendEnd(seconds: histogram.sum)
        append(name, "_count", Self.inBraces(labels), " ")
        appendEnd(decimal: count)
    }

    private func append(_ exemplar: Exemplar) {
        let context = exemplar.span.context
        append(" # {trace_id=\"")
        queue.append(paddedHexadecimal: context.traceHigh)
        queue.append(paddedHexadecimal: context.traceLow)
        append("\",span_id=\"")
        queue.append(paddedHexadecimal: context.span)
        append("\"} ")
        queue.append(seconds: exemplar.nanoseconds)
        append(" ")
        queue.append(seconds: Int(exemplar.span.end.nanoseconds))
    }

    private func append(bound index: Int, of bounds: HistogramBounds) {
        guard index < bounds.nanoseconds.count else { return append("+Inf") }
        let bound = bounds.nanoseconds[index]
        queue.append(seconds: bound)
        // OpenMetrics wants a bound to be written in one way alone: as a number with a fraction.
        if format == .openMetrics, bound % 1_000_000_000 == 0 { append(".0") }
    }

    private func appendEnd(decimal value: Int) {
        queue.append(decimal: value)
        append("\n")
    }

    private func appendEnd(seconds nanoseconds: Int) {
        queue.append(seconds: nanoseconds)
        append("\n")
    }

    private func append(_ texts: String...) {
        for text in texts { queue.append(text: text) }
    }

    private static func text(ofLabels names: [String], _ values: [String]) -> String {
        precondition(names.count == values.count, "the labels do not match the metric")
        return zip(names, values).map { "\($0)=\"\(escaped($1, quotes: true))\"" }.joined(separator: ",")
    }

    private static func inBraces(_ labels: String) -> String {
        labels.isEmpty ? "" : "{\(labels)}"
    }

    /// Texts escape backslash and line feed; label values, and the help of OpenMetrics, quotes as well.
    private static func escaped(_ text: String, quotes: Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
