/// One value of a metric.
public struct MetricSample: Sendable {
    /// The values of the metric's labels, in their order.
    public let labels: [String]
    /// The value.
    public let value: MetricValue

    /// Makes a sample.
    public init(_ labels: [String], _ value: MetricValue) {
        self.labels = labels
        self.value = value
    }
}

/// The value of a sample.
public enum MetricValue: Sendable {
    /// A whole number.
    case number(Int)
    /// A time in nanoseconds, rendered in seconds.
    case nanoseconds(Int)
    /// A histogram of durations, rendered in seconds.
    case histogram(DurationHistogram)
    /// How many durations there were, and their sum, rendered in seconds.
    case summary(count: Int, nanoseconds: Int)
}
