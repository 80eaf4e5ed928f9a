public import Bytes

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
        append("# HELP ", metric.name, " ")
        append(escaped: metric.help, quotes: false)
        append("\n# TYPE ", metric.name, " ", metric.kind.rawValue, "\n")
        for sample in family.samples {
            precondition(sample.labels.count == metric.labels.count, "the labels are not those of the metric")
            append(sample, of: metric)
        }
    }

    private func append(_ sample: MetricSample, of metric: Metric) {
        switch sample.value {
        case .number(let number):
            appendLabels(of: sample, metric)
            appendEnd(decimal: number)
        case .nanoseconds(let nanoseconds):
            appendLabels(of: sample, metric)
            appendEnd(seconds: nanoseconds)
        case .histogram(let histogram):
            append(histogram, of: sample, metric)
        }
    }

    /// A bucket counts all values up to its bound, so it contains the ones before it.
    private func append(_ histogram: DurationHistogram, of sample: MetricSample, _ metric: Metric) {
        var count = 0
        for index in histogram.buckets.indices {
            count += histogram.buckets[index]
            appendLabels(of: sample, metric, suffix: "_bucket", bound: DurationHistogram.bounds[index])
            appendEnd(decimal: count)
        }
        appendLabels(of: sample, metric, suffix: "_sum")
        appendEnd(seconds: histogram.sum)
        appendLabels(of: sample, metric, suffix: "_count")
        appendEnd(decimal: count)
    }

    /// Appends a line up to its value; `bound` is that of a bucket, in nanoseconds.
    private func appendLabels(of sample: MetricSample, _ metric: Metric, suffix: String = "", bound: Int? = nil) {
        append(metric.name, suffix)
        var separator = "{"
        for (name, value) in zip(metric.labels, sample.labels) {
            append(separator, name, "=\"")
            append(escaped: value, quotes: true)
            append("\"")
            separator = ","
        }
        if let bound {
            append(separator, "le=\"")
            if bound == .max { append("+Inf") } else { queue.append(seconds: bound) }
            append("\"")
            separator = ","
        }
        append(separator == "," ? "} " : " ")
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

    /// Help texts escape backslash and line feed, label values quotes as well.
    private func append(escaped text: String, quotes: Bool) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): append("\\\\")
            case UInt8(ascii: "\n"): append("\\n")
            case UInt8(ascii: "\"") where quotes: append("\\\"")
            default: queue.append(byte: byte)
            }
        }
    }
}
