extension Duration {
    /// Reads a whole number with a unit: `250ms`, `2s`, `5m`, `1h`.
    ///
    /// None for anything else, and for more than ten years.
    public init?(text: String) {
        let digits = text.utf8.prefix { 0x30...0x39 ~= $0 }
        guard let count = Int(String(digits) ?? ""),
            let unit = Self.milliseconds[String(text.utf8.dropFirst(digits.count)) ?? "?"]
        else { return nil }
        let (milliseconds, overflow) = count.multipliedReportingOverflow(by: unit)
        guard !overflow, milliseconds <= 10 * 365 * 24 * 3_600_000 else { return nil }
        self = .milliseconds(milliseconds)
    }

    /// The duration as the file would write it, in the largest unit that is exact: `30s`, `1h`, `250ms`.
    public var text: String {
        let (seconds, attoseconds) = components
        let milliseconds = Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
        let units = [("h", 3_600_000), ("m", 60_000), ("s", 1000)]
        guard let (unit, length) = units.first(where: { milliseconds > 0 && milliseconds % $0.1 == 0 }) else {
            return milliseconds == 0 ? "0s" : "\(milliseconds)ms"
        }
        return "\(milliseconds / length)\(unit)"
    }

    private static let milliseconds = ["ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000]
}
