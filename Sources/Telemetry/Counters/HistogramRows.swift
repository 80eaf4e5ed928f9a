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
    /// The last traced call of each bucket that has counted one, by the place of the bucket in `counts`.
    private var exemplars: [Int: Exemplar] = [:]

    init(bounds: HistogramBounds = .standard) {
        self.bounds = bounds
    }

    private var stride: Int { bounds.bucketCount + 1 }

    mutating func addRow() {
        count += 1
        for _ in 0..<stride { counts.append(0) }
    }

    /// Counts a duration; a negative one counts as none.
    ///
    /// - Parameters:
    ///   - duration: the duration.
    ///   - row: the row that counts it.
    ///   - span: the span of the call, if its trace is exported; such a call may allocate.
    mutating func record(_ duration: Duration, row: Int, span: ExportedSpan? = nil) {
        let nanoseconds = max(0, Int(duration.nanoseconds))
        let first = row * stride
        let bucket = first + bounds.bucket(of: nanoseconds)
        counts[bucket] &+= 1
        counts[first + bounds.bucketCount] &+= nanoseconds
        if let span { exemplars[bucket] = Exemplar(span: span, nanoseconds: nanoseconds) }
    }

    /// Goes over to other bounds: all rows start again, unless the bounds are the same.
    mutating func setBounds(_ new: HistogramBounds) {
        guard new != bounds else { return }
        bounds = new
        counts = [Int](repeating: 0, count: count * stride)
        exemplars = [:]
    }

    /// A copy of a row; allocates, so for a snapshot only.
    subscript(row: Int) -> DurationHistogram {
        let first = row * stride
        return DurationHistogram(
            bounds: bounds,
            buckets: Array(counts[first..<first + bounds.bucketCount]),
            sum: counts[first + bounds.bucketCount],
            exemplars: exemplars(from: first)
        )
    }

    private func exemplars(from first: Int) -> [Int: Exemplar] {
        guard !exemplars.isEmpty else { return [:] }
        let found = (0..<bounds.bucketCount).compactMap { bucket in exemplars[first + bucket].map { (bucket, $0) } }
        return Dictionary(uniqueKeysWithValues: found)
    }
}
