public import Time

/// How the time before a request is retried grows with the number of times it has been.
public enum RetryStrategy: Equatable, Sendable {
    /// At once.
    case immediate
    /// After the same time always.
    case delayed(Duration)
    /// base⁻¹, 1, base, base² … units.
    case exponential(base: Double)
    /// 0, 1, 1, 2, 3, 5 … units.
    case fibonacci

    /// The time after so many retries, 0 before the first; never negative, and the longest there is where it is too long.
    public func delay(after retries: Int, unit: Duration) -> Duration {
        let retries = max(0, retries)
        let unit = max(.zero, unit)
        switch self {
        case .immediate: return .zero
        case .delayed(let time): return max(.zero, time)
        case .exponential(let base): return unit.scaled(by: Self.power(base, retries))
        case .fibonacci:
            return unit.multiplied(saturating: Self.fibonacci(retries))
        }
    }

    /// base to the power of `retries` − 1, by squaring, so that powers of whole numbers are exact.
    private static func power(_ base: Double, _ retries: Int) -> Double {
        guard retries > 0 else { return 1 / base }
        var (result, square, rest) = (1.0, base, retries - 1)
        while rest > 0 {
            if rest & 1 == 1 { result *= square }
            rest >>= 1
            // Past the last bit a square could be infinite, and infinity times nothing is no number.
            if rest > 0 { square *= square }
        }
        return result
    }

    private static func fibonacci(_ number: Int) -> Int64 {
        var (value, next): (Int64, Int64) = (0, 1)
        // The 93rd is more than fits.
        for _ in 0..<min(number, 93) {
            let (sum, overflow) = value.addingReportingOverflow(next)
            (value, next) = (next, overflow ? .max : sum)
        }
        return value
    }
}
