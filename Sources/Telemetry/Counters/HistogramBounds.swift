internal import Time

/// The upper bounds of a histogram's buckets, inclusive and ascending, in nanoseconds.
///
/// One more bucket, which has no bound, counts what is longer than the last of them.
public struct HistogramBounds: Equatable, Sendable {
    /// The largest number of bounds.
    public static let maxCount = 32

    /// The bounds unless the configuration gives others: from 0.1 ms to 10 s.
    public static let standard = HistogramBounds([
        100_000, 250_000, 500_000,
        1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000, 250_000_000, 500_000_000,
        1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
    ])

    /// The bounds in nanoseconds, from the lowest to the highest.
    public let nanoseconds: [Int]

    /// Takes bounds that ascend from above zero, from one to `maxCount` of them.
    public init(_ nanoseconds: [Int]) {
        precondition(1...Self.maxCount ~= nanoseconds.count, "a histogram needs 1 to \(Self.maxCount) bounds")
        precondition(
            zip([0] + nanoseconds, nanoseconds).allSatisfy { $0 < $1 },
            "the bounds of a histogram must ascend"
        )
        self.nanoseconds = nanoseconds
    }

    /// The number of buckets: one for each bound, and one for what is longer.
    var bucketCount: Int { nanoseconds.count + 1 }

    /// The bucket that counts a duration.
    ///
    /// Compares with every bound and never branches on the result: a search costs more, because no processor can predict
    /// durations.
    func bucket(of duration: Int) -> Int {
        var index = 0
        for bound in nanoseconds { index &+= duration > bound ? 1 : 0 }
        return index
    }
}
