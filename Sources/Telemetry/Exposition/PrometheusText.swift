public import Bytes
internal import Time

/// Renders metrics in the text format of Prometheus, version 0.0.4.
public struct PrometheusText {
    /// The media type of the text.
    public static let contentType: StaticString = "text/plain; version=0.0.4; charset=utf-8"

    private let queue: ByteQueue

    /// Makes a renderer that appends to `queue`.
    public init(to queue: ByteQueue) {
        self.queue = queue
    }

    /// Appends all families that have samples, in the order given.
    public func append(_ families: [MetricFamily]) {
        for family in families where !family.samples.isEmpty { append(family) }
    }

    private func append(_ family: MetricFamily) {
        let metric = family.metric
        append("# HELP ", metric.name, " ", Self.escaped(metric.help, quotes: false), "\n")
        append("# TYPE ", metric.name, " ", metric.kind.rawValue, "\n")
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
            appendEnd(decimal: count)
        }
        append(name, "_sum", Self.inBraces(labels), " ")
        appendEnd(seconds: histogram.sum)
        append(name, "_count", Self.inBraces(labels), " ")
        appendEnd(decimal: count)
    }

    private func append(bound index: Int, of bounds: HistogramBounds) {
        guard index < bounds.nanoseconds.count else { return append("+Inf") }
        queue.append(seconds: bounds.nanoseconds[index])
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

    /// Help texts escape backslash and line feed, label values quotes as well.
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
