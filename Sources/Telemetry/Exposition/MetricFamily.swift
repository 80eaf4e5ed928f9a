/// A metric with its samples at one moment.
public struct MetricFamily: Sendable {
    /// What the metric is.
    public let metric: Metric
    /// Its samples; without any, the family is not rendered.
    public var samples: [MetricSample]

    /// Makes a family of `samples`.
    public init(_ metric: Metric, _ samples: [MetricSample] = []) {
        self.metric = metric
        self.samples = samples
    }

    /// Makes a family of one sample.
    ///
    /// - Parameters:
    ///   - metric: what the metric is.
    ///   - value: the value of the sample.
    ///   - labels: the values of the metric's labels, in their order.
    public init(_ metric: Metric, _ value: MetricValue, labels: [String] = []) {
        self.init(metric, [MetricSample(labels, value)])
    }
}
