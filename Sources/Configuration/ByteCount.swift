/// A number of bytes as the configuration file writes it.
public struct ByteCount: Equatable, Sendable {
    /// The number.
    public let bytes: Int

    /// Reads `512B`, `64KiB`, `4MiB`, `1GiB`, or plain digits.
    public init?(text: String) {
        let digits = text.utf8.prefix { 0x30...0x39 ~= $0 }
        guard let count = Int(String(digits) ?? ""),
            let unit = Self.units[String(text.utf8.dropFirst(digits.count)) ?? "?"]
        else { return nil }
        let (bytes, overflow) = count.multipliedReportingOverflow(by: unit)
        guard !overflow else { return nil }
        self.bytes = bytes
    }

    /// The number as the file would write it, in the largest unit that is exact: `64KiB`, `1000B`.
    public static func text(_ bytes: Int) -> String {
        let exact = units.filter { bytes > 0 && bytes % $0.value == 0 && !$0.key.isEmpty }
        guard let (unit, length) = exact.max(by: { $0.value < $1.value }) else { return "\(bytes)B" }
        return "\(bytes / length)\(unit)"
    }

    private static let units = ["": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30]
}
