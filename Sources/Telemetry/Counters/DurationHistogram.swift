/// How many durations fell between which bounds, and their sum, at one moment.
public struct DurationHistogram: Sendable {
    /// The bounds of the buckets.
    public let bounds: HistogramBounds
    /// How many durations fell in each bucket alone, not in all up to it.
    public let buckets: [Int]
    /// The sum of the durations in nanoseconds.
    public let sum: Int
    /// The last call of a bucket whose trace is exported, by the index of the bucket.
    public let exemplars: [Int: Exemplar]

    init(bounds: HistogramBounds, buckets: [Int], sum: Int, exemplars: [Int: Exemplar] = [:]) {
        precondition(buckets.count == bounds.bucketCount, "the buckets do not match the bounds")
        self.bounds = bounds
        self.buckets = buckets
        self.sum = sum
        self.exemplars = exemplars
    }

    /// How many durations there were.
    var count: Int { buckets.reduce(0, &+) }

    /// The durations of both.
    ///
    /// Leaves `other` out if it has other bounds: its worker has not loaded the same configuration yet.
    func merging(_ other: DurationHistogram) -> DurationHistogram {
        guard other.bounds == bounds else { return self }
        return DurationHistogram(
            bounds: bounds,
            buckets: zip(buckets, other.buckets).map(&+),
            sum: sum &+ other.sum,
            exemplars: exemplars.merging(other.exemplars) { $0.later($1) }
        )
    }
}
