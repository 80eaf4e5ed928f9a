extension Duration {
    /// Reads a whole number with a unit: `100us`, `250ms`, `2s`, `5m`, `1h`.
    ///
    /// Nil for anything else, and for more than ten years.
    public init?(text: String) {
        let digits = text.utf8.prefix { 0x30...0x39 ~= $0 }
        guard let count = Int64(String(digits) ?? ""),
            let unit = Self.units.first(where: { $0.name == String(text.utf8.dropFirst(digits.count)) })
        else { return nil }
        let (nanoseconds, overflow) = count.multipliedReportingOverflow(by: unit.nanoseconds)
        guard !overflow, nanoseconds <= 10 * 365 * 24 * 3_600_000_000_000 else { return nil }
        self = .nanoseconds(nanoseconds)
    }

    /// The duration as the file would write it, in the largest unit that is exact: `30s`, `1h`, `250ms`, `100us`.
    ///
    /// What is shorter than a microsecond is cut.
    public var text: String {
        guard let unit = Self.units.first(where: { nanoseconds > 0 && nanoseconds % $0.nanoseconds == 0 }) else {
            return nanoseconds == 0 ? "0s" : "\(nanoseconds / 1000)us"
        }
        return "\(nanoseconds / unit.nanoseconds)\(unit.name)"
    }

    private static let units: [(name: String, nanoseconds: Int64)] = [
        ("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000),
    ]
}
