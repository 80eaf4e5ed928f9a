internal import Time

/// Histograms with the same bounds, in rows that are only ever added.
///
/// All counts are in one array, so that a duration is counted without an allocation and a row costs no more than its
/// buckets.
struct HistogramRows {
    private(set) var bounds: HistogramBounds
    /// For each row its buckets, and behind them the sum of its durations in nanoseconds.
    private var counts: [Int] = []
    /// The number of rows.
    private(set) var count = 0

    init(bounds: HistogramBounds = .standard) {
        self.bounds = bounds
    }

    private var stride: Int { bounds.bucketCount + 1 }

    mutating func addRow() {
        count += 1
        for _ in 0..<stride { counts.append(0) }
    }

    /// Counts a duration; a negative one counts as none.
    mutating func record(_ duration: Duration, row: Int) {
        let nanoseconds = max(0, Int(duration.nanoseconds))
        let first = row * stride
        counts[first + bounds.bucket(of: nanoseconds)] &+= 1
        counts[first + bounds.bucketCount] &+= nanoseconds
    }

    /// Goes over to other bounds: all rows start again, unless the bounds are the same.
    mutating func setBounds(_ new: HistogramBounds) {
        guard new != bounds else { return }
        bounds = new
        counts = [Int](repeating: 0, count: count * stride)
    }

    /// A copy of a row; allocates, so for a snapshot only.
    subscript(row: Int) -> DurationHistogram {
        let first = row * stride
        let buckets = counts[first..<first + bounds.bucketCount]
        return DurationHistogram(bounds: bounds, buckets: Array(buckets), sum: counts[first + bounds.bucketCount])
    }
}
