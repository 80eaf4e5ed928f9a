/// How many durations fell between which bounds, and their sum.
public struct DurationHistogram: Sendable {
    /// The inclusive upper bounds of the buckets in nanoseconds; the last takes everything.
    public static let bounds: InlineArray<15, Int> = [
        5_000_000, 10_000_000, 25_000_000, 50_000_000, 75_000_000, 100_000_000, 250_000_000, 500_000_000,
        750_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 7_500_000_000, 10_000_000_000, .max,
    ]

    /// How many durations fell in each bucket alone, not in all up to it.
    public private(set) var buckets = InlineArray<15, Int>(repeating: 0)
    /// The sum of the durations in nanoseconds.
    public private(set) var sum = 0

    /// Makes an empty histogram.
    public init() {}

    /// Counts one duration.
    public mutating func record(nanoseconds: Int) {
        var index = 0
        while nanoseconds > Self.bounds[index] { index += 1 }
        buckets[index] &+= 1
        sum &+= nanoseconds
    }

    /// Adds the durations of `other`.
    public mutating func merge(_ other: DurationHistogram) {
        for index in buckets.indices { buckets[index] &+= other.buckets[index] }
        sum &+= other.sum
    }
}
