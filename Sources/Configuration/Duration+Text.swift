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

    /// The duration as a configuration has it, to the millisecond: `250ms`, `90s`.
    public var text: String {
        let count = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
        return count % 1000 == 0 ? "\(count / 1000)s" : "\(count)ms"
    }

    private static let milliseconds = ["ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000]
}
