/// How much of an upstream's load may be calls that are retried.
public struct UpstreamRetryBudget: Equatable, Sendable {
    /// How many of a thousand calls may be retried.
    public let perThousand: Int
    /// How many more may be, in each second, however few calls there are.
    public let minimumPerSecond: Int

    static let options = [
        Option("ratio", .string, default: "0.2", "The limit of retries as a share of the calls, from 0 to 10."),
        Option(
            "min_per_second",
            .integer(in: 0...1_000_000),
            default: "10",
            "The retries per second that are allowed on top of `ratio`, so that a few calls can be retried too."
        ),
    ]

    /// Reads the section; a ratio that is none is reported.
    init(_ section: Section) {
        let text = section.string("ratio")
        let read = Self.thousandths(text)
        perThousand = read ?? 0
        minimumPerSecond = section.integer("min_per_second")
        if read == nil {
            let problem = "\"ratio\" cannot be \(Diagnostic.quote(text))"
            section.report(
                "\(problem); write a number from 0 to 10 with at most three decimals, such as 0.2",
                at: "ratio"
            )
        }
    }

    /// Reads a decimal number from 0 to 10, in thousandths so that nothing is ever rounded.
    private static func thousandths(_ text: String) -> Int? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let decimals = parts.count == 2 ? parts[1] : "0"
        guard parts.count <= 2, 1...2 ~= parts[0].count, 1...3 ~= decimals.count,
            (parts[0] + decimals).utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let whole = Int(parts[0]),
            let thousandths = Int(decimals + String(repeating: "0", count: 3 - decimals.count))
        else { return nil }
        let value = whole * 1000 + thousandths
        return value <= 10_000 ? value : nil
    }
}
