public import Time

/// All metrics at one moment, as they are exported.
public struct MetricSnapshot: Sendable {
    /// The metrics with their samples.
    public let families: [MetricFamily]
    /// The moment.
    public let time: WallTime
    /// Since when counters count: the start of the process.
    public let start: WallTime
    /// Since when histograms count: they start again when a reload changes their buckets.
    public let histogramStart: WallTime

    /// Describes a moment.
    public init(_ families: [MetricFamily], at time: WallTime, since start: WallTime, histograms: WallTime) {
        (self.families, self.time, self.start, self.histogramStart) = (families, time, start, histograms)
    }

    /// The same moment, with some of the metrics.
    public func with(_ families: [MetricFamily]) -> MetricSnapshot {
        MetricSnapshot(families, at: time, since: start, histograms: histogramStart)
    }

    /// The bounds of its histograms; none without any.
    public var bounds: HistogramBounds? {
        for family in families {
            for sample in family.samples {
                if case .histogram(let histogram) = sample.value { return histogram.bounds }
            }
        }
        return nil
    }
}
