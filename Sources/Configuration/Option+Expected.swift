extension Option {
    /// How a value of this option is written, in the words of an error message.
    var expected: String {
        if let example { return kind.expected + ", for example \(key): \(example)" }
        if case .string = kind, let fallback { return kind.expected + ", for example \(key): \(fallback)" }
        return kind.expected
    }
}

extension Option.Kind {
    fileprivate var expected: String {
        switch self {
        case .string: "a string"
        case .bool: "true or false"
        case .duration: "a duration such as 250ms, 2s, 5m, 1h or none"
        case .timeout: "a duration longer than zero such as 250ms, 2s, 5m, 1h, or none"
        case .size(let range): "a size \(bounds(range, unit: " bytes")) such as 512B, 64KiB, 4MiB or 1GiB"
        case .sizeLimit(let range): "a size \(bounds(range, unit: " bytes")) such as 512B, 64KiB, 4MiB, 1GiB, or none"
        case .integer(let range): "a whole number \(bounds(range))"
        case .integerOrAuto(let range): "auto or a whole number \(bounds(range))"
        case .choice(let words): "one of \(words.joined(separator: ", "))"
        case .choices(let words): "one of \(words.joined(separator: ", ")), or a list of them"
        case .strings: "a string or a list of strings"
        case .integers(let range): "a whole number \(bounds(range)), or a list of them"
        case .map: "a mapping of names to strings"
        case .section(_, let shorthand): shorthand.map { "the \($0) or a mapping" } ?? "a mapping"
        case .sections: "a list with each item on its own line after \"- \""
        case .named: "a mapping of names, each with a mapping below it"
        case .node: "a value"
        }
    }

    private func bounds(_ range: ClosedRange<Int>, unit: String = "") -> String {
        range.upperBound == .max
            ? "of at least \(range.lowerBound)\(unit)" : "from \(range.lowerBound) to \(range.upperBound)\(unit)"
    }
}
