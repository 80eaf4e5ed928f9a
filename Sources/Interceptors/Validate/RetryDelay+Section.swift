internal import Configuration
internal import Policy
internal import Proxy
internal import Time

/// The options of a delay, as the configuration writes them.
extension RetryDelay {
    static let options =
        [
            Option("immediate", .section([]), oneOf: group, "Retries the request at once."),
            Option("delayed", .duration, oneOf: group, example: "3s", "The delay before each retry."),
            Option(
                "exponential",
                .string,
                oneOf: group,
                example: "2",
                "The base b of growing delays: 1/b, 1, b, b² … units. It is a number from 1 to 1000."
            ),
            Option("fibonacci", .section([]), oneOf: group, "Delays of 0, 1, 1, 2, 3, 5 … units."),
        ] + shapeOptions

    /// The same where no strategy has to be given: a list may have one, and without any it is immediate.
    static let optional = options.map { option in
        Option(
            option.key,
            option.kind,
            shape: option.shape,
            default: option.fallback,
            example: option.example,
            option.documentation
        )
    }

    static let strategies = ["immediate", "delayed", "exponential", "fibonacci"]

    /// Reports strategies that are given together.
    static func checkStrategy(_ section: Section) {
        let given = strategies.filter(section.has)
        guard given.count > 1 else { return }
        let names = given.map { "\"\($0)\"" }.joined(separator: " and ")
        section.report("\(names) cannot be set together; write exactly one of them", at: given[1])
    }

    private static let group = "strategy"

    private static let shapeOptions = [
        Option("unit", .timeout, default: "1s", "The unit of `exponential` and `fibonacci`."),
        Option("cap", .duration, default: "none", "The maximum delay before a retry."),
        Option(
            "jitter",
            .string,
            default: "0",
            example: "0.5",
            "The random share of a delay, from 0 to 1. With 0.5, a retry comes after 50 % to 100 % of the delay."
        ),
    ]

    /// Reads the options above and reports what is wrong with them; what is wrong is as if it were not given.
    init(_ section: Section) {
        self.init(
            Self.strategy(section),
            unit: Self.finite("unit", section) ?? .second,
            cap: section.duration("cap"),
            jitter: Self.number("jitter", in: 0...1, section, such: "0.5") ?? 0
        )
    }

    private static func strategy(_ section: Section) -> RetryStrategy {
        if section.has("delayed") { return .delayed(finite("delayed", section) ?? .zero) }
        if section.has("exponential") {
            return .exponential(base: number("exponential", in: 1...1000, section, such: "2") ?? 2)
        }
        return section.has("fibonacci") ? .fibonacci : .immediate
    }

    /// A time that has an end.
    private static func finite(_ key: String, _ section: Section) -> Duration? {
        if section.has(key), section.node(key)?.text == "none" {
            section.report("\"\(key)\" cannot be none; write a duration such as 1s", at: key)
        }
        return section.duration(key)
    }

    private static func number(
        _ key: String,
        in range: ClosedRange<Double>,
        _ section: Section,
        such example: String
    ) -> Double? {
        guard let text = section.string(ifGiven: key) else { return nil }
        let isPlain = text.utf8.allSatisfy { 0x30...0x39 ~= $0 || $0 == UInt8(ascii: ".") }
        if isPlain, let value = Double(text), range.contains(value) { return value }
        let bounds = "\(Int(range.lowerBound)) to \(Int(range.upperBound))"
        let problem = "\"\(key)\" cannot be \(Diagnostic.quote(text))"
        section.report("\(problem); write a number from \(bounds), such as \(example)", at: key)
        return nil
    }
}
