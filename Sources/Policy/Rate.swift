package import Time

/// So many calls in a second, a minute or an hour, as the configuration writes it: `100/s`.
package struct Rate: Hashable, Sendable {
    /// The highest number that a rate may have.
    package static let maxCount = 1_000_000

    /// How many.
    package let count: Int
    /// In what time.
    package let period: Duration

    /// Reads `100/s`, `30/m` or `5/h`.
    package init?(text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
            let count = Int(parts[0]), 1...Self.maxCount ~= count, let seconds = Self.seconds[String(parts[1])]
        else { return nil }
        self.count = count
        period = seconds * .second
    }

    private static let seconds: [String: Int] = ["s": 1, "m": 60, "h": 3600]
}
