internal import Events

/// Arithmetic with times that come from outside, and may be any.
extension Nanoseconds {
    /// The length of `seconds`; the longest or shortest that fits where it does not.
    init(seconds: Int) {
        let (product, overflow) = Nanoseconds(seconds).multipliedReportingOverflow(by: .second)
        self = overflow ? (seconds < 0 ? .min : .max) : product
    }

    /// The number without its fraction; the nearest that fits where it does not.
    init(clamping value: Double) {
        self = Nanoseconds(exactly: value.rounded(.towardZero)) ?? (value < 0 ? .min : .max)
    }

    /// The sum; the greatest or least that fits where it does not.
    func addingSaturated(_ other: Nanoseconds) -> Nanoseconds {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
