extension Duration {
    /// Reads a whole number with a unit: `100us`, `250ms`, `2s`, `5m`, `1h`.
    ///
    /// None for anything else, and for more than ten years.
    public init?(text: String) {
        let digits = text.utf8.prefix { 0x30...0x39 ~= $0 }
        guard let count = Int(String(digits) ?? ""),
            let unit = Self.microseconds[String(text.utf8.dropFirst(digits.count)) ?? "?"]
        else { return nil }
        let (microseconds, overflow) = count.multipliedReportingOverflow(by: unit)
        guard !overflow, microseconds <= 10 * 365 * 24 * 3_600_000_000 else { return nil }
        self = .microseconds(microseconds)
    }

    /// The duration as the file would write it, in the largest unit that is exact: `30s`, `1h`, `250ms`, `100us`.
    public var text: String {
        let (seconds, attoseconds) = components
        let microseconds = Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000)
        let units = [("h", 3_600_000_000), ("m", 60_000_000), ("s", 1_000_000), ("ms", 1000)]
        guard let (unit, length) = units.first(where: { microseconds > 0 && microseconds % $0.1 == 0 }) else {
            return microseconds == 0 ? "0s" : "\(microseconds)us"
        }
        return "\(microseconds / length)\(unit)"
    }

    private static let microseconds = ["us": 1, "ms": 1000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000]
}
