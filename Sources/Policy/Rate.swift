public import Time

/// So many calls in a second, a minute or an hour, as the configuration writes it: `100/s`.
public struct Rate: Hashable, Sendable {
    /// The highest number that a rate may have.
    public static let maxCount = 1_000_000

    /// How many.
    public let count: Int
    /// In what time.
    public let period: Duration

    /// Reads `100/s`, `30/m` or `5/h`.
    public init?(text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
            let count = Int(parts[0]), 1...Self.maxCount ~= count, let seconds = Self.seconds[String(parts[1])]
        else { return nil }
        self.count = count
        period = seconds * .second
    }

    private static let seconds: [String: Int] = ["s": 1, "m": 60, "h": 3600]
}
